import { Gauge, type Registry } from 'prom-client'
import type { Ledger } from '../core/ledger.ts'
import type { Backlog } from '../core/sweep-ledger.ts'

export interface BacklogMetrics {
  /** Reads what waits for the sweepers of all instances. Never rejects: what can't be read in time is left out. */
  measure(): Promise<void>
}

/** Of more it is enough to know that there is more. */
const CAP = 10_000

/** Prometheus waits 10 s, and what an instance knows by itself must arrive also when the database hangs. */
const PATIENCE_MS = 2_000

export function createBacklogMetrics({
  registry,
  ledger,
}: {
  readonly registry: Registry
  readonly ledger: Pick<Ledger, 'measureBacklog'>
}): BacklogMetrics {
  const common = { labelNames: ['of'], registers: [registry] }
  const count = new Gauge({
    name: 'cloud_repository_sweep_backlog',
    help: `What is due and waits for a sweep of whichever instance, counted up to ${CAP}.`,
    ...common,
  })
  const age = new Gauge({
    name: 'cloud_repository_sweep_backlog_age_seconds',
    help: 'For how long the oldest of it has been due.',
    ...common,
  })
  let measuring: Promise<unknown> | undefined

  async function read(): Promise<void> {
    const backlogs = await ledger.measureBacklog(CAP)
    const entries: [string, Backlog][] = [
      ['expired_uploads', backlogs.expiredUploads],
      ['aborted_uploads', backlogs.abortedUploads],
      ['garbage', backlogs.garbage],
    ]
    for (const [of, backlog] of entries) {
      count.set({ of }, backlog.count)
      age.set({ of }, backlog.oldestMs / 1000)
    }
  }

  return {
    async measure() {
      count.reset()
      age.reset()
      // However many ask, and however slow the database is, one reads.
      measuring ??= read()
        .catch(() => undefined)
        .finally(() => {
          measuring = undefined
        })
      await within(PATIENCE_MS, measuring)
    },
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, timeout])
  clearTimeout(timer)
}
