import { Registry } from 'prom-client'
import type { Ledger } from '../core/ledger.ts'
import type { Sweeper } from '../core/sweeper.ts'
import { createBacklogMetrics } from './backlog.ts'
import { meterSweeper } from './sweeps.ts'

/** What an instance tells of itself, for Prometheus. Counts begin at its start. */
export interface Metrics {
  /** Of what `expose` returns. */
  readonly contentType: string
  /** All metrics in Prometheus' text format. Never rejects: what the database does not tell in time is left out. */
  expose(): Promise<string>
  /** The same sweeper, whose work is counted. */
  meterSweeper(sweeper: Sweeper): Sweeper
}

/** One registry for all metrics of an instance; none is global. Each group of them has its file here. */
export function createMetrics({
  ledger,
}: {
  readonly ledger: Pick<Ledger, 'measureBacklog'>
}): Metrics {
  const registry = new Registry()
  const backlog = createBacklogMetrics({ registry, ledger })
  return {
    contentType: registry.contentType,
    async expose() {
      await backlog.measure()
      return await registry.metrics()
    },
    meterSweeper: (sweeper) => meterSweeper({ registry, sweeper }),
  }
}
