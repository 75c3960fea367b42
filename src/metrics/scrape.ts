import { Gauge, type Registry } from '@prometheus-io/client'
import { settledWithin } from '../core/async/deadline.ts'
import type { Dependency } from '../core/errors.ts'
import type { Backlog, BacklogLedger } from '../core/sweep/backlog-ledger.ts'
import type { Readiness } from '../core/readiness.ts'

/** Prometheus waits 10 s; an instance's own metrics must arrive even if a dependency hangs. */
const READ_TIMEOUT_MS = 2_000

export interface Reading {
  readonly clear: () => void
  readonly read: () => Promise<void>
}

export interface Scraped {
  /** Never rejects: it omits late or failed values. Concurrent scrapes share one read. */
  readonly scrape: () => Promise<void>
}

/** Reads values at each scrape. */
export function createScrape({ clear, read }: Reading): Scraped {
  let reading: Promise<void> | undefined
  return {
    async scrape() {
      clear()
      reading ??= read()
        .catch(() => undefined)
        .finally(() => {
          reading = undefined
        })
      await settledWithin(READ_TIMEOUT_MS, reading)
    },
  }
}

export interface DependencyOptions {
  readonly registry: Registry
  readonly readiness: Readiness
}

/** Whether each dependency answers, checked as by `/readyz`. */
export function createDependencyMetrics({ registry, readiness }: DependencyOptions): Scraped {
  const up = new Gauge({
    name: 'cloud_repository_part_up',
    help: '1 if the part responds, 0 if it fails, as checked by /readyz.',
    labelNames: ['part'],
    registers: [registry],
  })
  return createScrape({
    clear: () => up.reset(),
    read: async () => {
      const failures = await readiness.failures()
      for (const part of DEPENDENCIES) up.set({ part }, failures.has(part) ? 0 : 1)
    },
  })
}

const DEPENDENCIES: readonly Dependency[] = ['database', 'object_store']

export interface BacklogOptions {
  readonly registry: Registry
  readonly ledger: BacklogLedger
}

/** Above this number, the exact value does not matter. */
const CAP = 10_000

export function createBacklogMetrics({ registry, ledger }: BacklogOptions): Scraped {
  const gauge = (name: string, help: string, ...labelNames: string[]): Gauge<string> =>
    new Gauge({ name: `cloud_repository_${name}`, help, labelNames, registers: [registry] })
  const waiting = `Items that are due for a sweep by any instance, counted up to ${CAP}.`
  const count = gauge('sweep_backlog', waiting, 'of')
  const oldest = 'How long the oldest item that is due for a sweep has been due.'
  const age = gauge('sweep_backlog_age_seconds', oldest, 'of')
  const reservations = gauge(
    'reservations',
    `Uploads with a single request in progress on all instances, counted up to ${CAP}.`,
  )
  const reserved = gauge(
    'reserved_bytes',
    `Bytes reserved by uploads in progress, up to ${CAP} uploads.`,
  )
  const unfinished = gauge(
    'unfinished_uploads',
    `Unfinished resumable uploads, counted up to ${CAP}.`,
  )
  const announced = gauge(
    'unfinished_bytes',
    `Bytes announced by unfinished resumable uploads, up to ${CAP} uploads.`,
  )
  const garbage = gauge('garbage_objects', `Objects that no file refers to, counted up to ${CAP}.`)

  function set(of: string, backlog: Backlog): void {
    count.set({ of }, backlog.count)
    age.set({ of }, backlog.oldestMs / 1000)
  }
  async function readBacklog(): Promise<void> {
    const { expiredUploads, abortedUploads, garbage: due } = await ledger.measureBacklog(CAP)
    set('expired_uploads', expiredUploads)
    set('aborted_uploads', abortedUploads)
    set('garbage', due)
  }
  async function readJournal(): Promise<void> {
    const journal = await ledger.measureJournal(CAP)
    reservations.set(journal.reservations)
    reserved.set(journal.reservedBytes)
    unfinished.set(journal.unfinishedUploads)
    announced.set(journal.unfinishedBytes)
    garbage.set(journal.garbage)
  }
  return createScrape({
    clear: () => {
      for (const labelled of [count, age]) labelled.reset()
      // `reset` would show 0, a valid value, for a gauge without labels.
      for (const single of [reservations, reserved, unfinished, announced, garbage]) single.remove()
    },
    read: async () => {
      await Promise.all([readBacklog(), readJournal()])
    },
  })
}
