import { Gauge, type Registry } from '@prometheus-io/client'
import type { Ledger } from '../core/ledger/ledger.ts'
import type { Backlog } from '../core/ledger/sweep-ledger.ts'
import { createScrape } from './scrape.ts'

export interface BacklogOptions {
  readonly registry: Registry
  readonly ledger: Pick<Ledger, 'measureBacklog' | 'measureJournal'>
}

/** Of more it is enough to know that there is more. */
const CAP = 10_000

/** What waits for the sweepers of all instances, and what the journal holds, read from the database for each scrape. */
export function createBacklogMetrics({ registry, ledger }: BacklogOptions): () => Promise<void> {
  const gauge = (name: string, help: string, ...labelNames: string[]): Gauge<string> =>
    new Gauge({ name: `cloud_repository_${name}`, help, labelNames, registers: [registry] })
  const count = gauge(
    'sweep_backlog',
    `What is due and waits for a sweep of whichever instance, counted up to ${CAP}.`,
    'of',
  )
  const age = gauge(
    'sweep_backlog_age_seconds',
    'For how long the oldest of it has been due.',
    'of',
  )
  const reservations = gauge('reservations', `Uploads under way on all instances, up to ${CAP}.`)
  const reserved = gauge('reserved_bytes', 'Bytes that these have reserved.')
  const garbage = gauge('garbage_objects', `Objects that no file refers to any more, up to ${CAP}.`)
  const single = [reservations, reserved, garbage]

  async function readBacklog(): Promise<void> {
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

  async function readJournal(): Promise<void> {
    const journal = await ledger.measureJournal(CAP)
    reservations.set(journal.reservations)
    reserved.set(journal.reservedBytes)
    garbage.set(journal.garbage)
  }

  return createScrape({
    clear: () => {
      count.reset()
      age.reset()
      // A gauge without labels would be reset to 0, which says something.
      for (const gauge of single) gauge.remove()
    },
    read: async () => {
      await Promise.all([readBacklog(), readJournal()])
    },
  })
}
