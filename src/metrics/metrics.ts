import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client'
import type { Readiness } from '../core/readiness.ts'
import type { Repository } from '../core/files/repository.ts'
import type { Sweeper } from '../core/sweep/sweeper.ts'
import { meterRepository } from './call-meters.ts'
import { type BacklogOptions, createBacklogMetrics, createDependencyMetrics } from './scrape.ts'
import { createRequestMetrics, type ListenerName, type RequestMeter } from './requests.ts'
import { createSaturationMetrics, type SaturationOptions } from './saturation.ts'
import { meterSweeper } from './sweeps.ts'

/** What an instance tells of itself, for Prometheus. Counts begin at its start. */
export interface Metrics {
  /** Of what `expose` returns. */
  readonly contentType: string
  /** All metrics in Prometheus' text format. Never rejects: what the parts do not tell in time is left out. */
  expose(): Promise<string>
  /** From now on tells of the process: which version it runs, and the delays of its event loop. Idempotent. */
  watchProcess(build: BuildInfo): void
  /** The same sweeper, whose work is counted. Of this and the next each is called once. */
  meterSweeper(sweeper: Sweeper): Sweeper
  /** The same repository, whose uploads are counted. */
  meterRepository(repository: Repository): Repository
  /** What a listener tells its requests to. */
  meterRequests(listener: ListenerName): RequestMeter
}

export interface BuildInfo {
  readonly version: string
}

export interface MetricsOptions
  extends Omit<BacklogOptions, 'registry'>, Omit<SaturationOptions, 'registry'> {
  /** That of other metrics of this instance, if there are any. */
  readonly registry?: Registry
  readonly readiness: Readiness
}

/** One registry for all metrics of an instance; none is global. Each group of them has its file here. */
export function createMetrics({ registry = new Registry(), ...options }: MetricsOptions): Metrics {
  const readBacklog = createBacklogMetrics({ registry, ...options })
  const readDependencies = createDependencyMetrics({ registry, ...options })
  createSaturationMetrics({ registry, ...options })
  const requests = createRequestMetrics(registry)
  let watchesProcess = false
  return {
    contentType: registry.contentType,
    async expose() {
      await Promise.all([readBacklog(), readDependencies()])
      requests.settle()
      return await registry.metrics()
    },
    watchProcess(build) {
      if (watchesProcess) return
      watchesProcess = true
      collectDefaultMetrics({ register: registry })
      exposeBuild(registry, build)
    },
    meterSweeper: (sweeper) => meterSweeper(sweeper, registry),
    meterRepository: (repository) => meterRepository(repository, registry),
    meterRequests: (listener) => requests.meter(listener),
  }
}

/** Always 1: the version is its label, by which other metrics can be joined. */
function exposeBuild(registry: Registry, { version }: BuildInfo): void {
  const build = new Gauge({
    name: 'cloud_repository_build_info',
    help: 'The version that this instance runs, as its label.',
    labelNames: ['version'],
    registers: [registry],
  })
  build.set({ version }, 1)
}
