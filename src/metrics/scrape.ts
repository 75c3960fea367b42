import { settledWithin } from '../core/async/deadline.ts'
import type { Dependency } from '../core/errors.ts'
import type { Backlog, BacklogLedger } from '../core/sweep/backlog-ledger.ts'
import type { Readiness } from '../core/readiness.ts'
import { type Instruments, MAX_COUNTED } from './instruments.ts'

/** Prometheus waits 10 s; an instance's own metrics must arrive even if a dependency hangs. */
const READ_TIMEOUT_MS = 2_000

interface Reading {
  readonly clear: () => void
  readonly read: () => Promise<void>
}

/** Reads values at each scrape. Never rejects: it omits late or failed values. Concurrent scrapes share one read. */
export type Scrape = () => Promise<void>

export function createScrape({ clear, read }: Reading): Scrape {
  let reading: Promise<void> | undefined
  return async () => {
    clear()
    reading ??= read()
      .catch(() => undefined)
      .finally(() => (reading = undefined))
    await settledWithin(READ_TIMEOUT_MS, reading)
  }
}

/** Whether each dependency answers, checked as by `/readyz`. */
export function createDependencyScrape(
  up: Instruments['dependencyUp'],
  readiness: Readiness,
): Scrape {
  return createScrape({
    clear: () => up.reset(),
    read: async () => {
      const failures = await readiness.failures()
      for (const name of DEPENDENCIES) up.set({ part: name }, failures.has(name) ? 0 : 1)
    },
  })
}

const DEPENDENCIES: readonly Dependency[] = ['database', 'object_store']

export function createBacklogScrape(
  { backlog, journal }: Instruments,
  ledger: BacklogLedger,
): Scrape {
  function set(of: string, due: Backlog): void {
    backlog.count.set({ of }, due.count)
    backlog.age.set({ of }, due.oldestMs / 1000)
  }
  async function readBacklog(): Promise<void> {
    const due = await ledger.measureBacklog(MAX_COUNTED)
    set('expired_uploads', due.expiredUploads)
    set('aborted_uploads', due.abortedUploads)
    set('garbage', due.garbage)
  }
  async function readJournal(): Promise<void> {
    const measured = await ledger.measureJournal(MAX_COUNTED)
    for (const figure of FIGURES) journal[figure].set(measured[figure])
  }
  return createScrape({
    clear: () => {
      for (const labelled of [backlog.count, backlog.age]) labelled.reset()
      // `reset` would show 0, a valid value, for a gauge without labels.
      for (const figure of FIGURES) journal[figure].remove()
    },
    read: async () => {
      await Promise.all([readBacklog(), readJournal()])
    },
  })
}

const FIGURES = [
  'reservations',
  'reservedBytes',
  'unfinishedUploads',
  'unfinishedBytes',
  'garbage',
] as const

/** For a gauge without labels; neither is set in a stack that has no such value. Shows nothing for `undefined`. */
export function createGaugeScrape(
  gauge: Instruments['packBytes'],
  measure: (() => Promise<number | undefined>) | undefined,
): Scrape {
  return createScrape({
    clear: () => gauge?.remove(),
    read: async () => {
      const value = await measure?.()
      if (value !== undefined) gauge?.set(value)
    },
  })
}
