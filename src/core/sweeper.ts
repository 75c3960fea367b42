import { randomUUID } from 'node:crypto'
import { isDatabaseFull } from './errors.ts'
import { keepChore, type KeptChore } from './kept-chore.ts'
import type { Ledger } from './ledger.ts'
import type { ObjectStore } from './object-store.ts'
import { pause } from './pause.ts'
import { abortedRemover, garbageRemover, type Progress, type RemovalRun } from './sweep-removals.ts'

export interface SweeperOptions {
  readonly ledger: Ledger
  readonly objects: ObjectStore
  /**
   * How long an aborted upload stays in the journal and an object of a deleted user in the garbage, in milliseconds:
   * longer than any write that was on its way then can still land in the object store.
   */
  readonly retentionMs: number
  /** How long the objects of a deleted user are kept where that is longer, in milliseconds. */
  readonly garbageDelayMs?: number
  /** How long after the crash of a sweeper the others leave its work to it, in milliseconds; a minute when left out. */
  readonly leaseMs?: number
}

export interface SweepRequest {
  readonly signal: AbortSignal
  /** Called often, with the figures so far. */
  readonly onProgress?: (figures: SweepFigures) => void
  /** Given, a sweep that another one keeps from its work waits for the end of that one, and calls this once. */
  readonly onWait?: () => void
}

/** What one sweep has done. */
export interface SweepFigures {
  readonly expiredUploads: number
  /** Keys of aborted uploads and of garbage that are now empty. */
  readonly removedObjects: number
  /** Keys whose removal failed; the next sweep tries again. */
  readonly failedRemovals: number
  /** Why the first of them failed. */
  readonly firstFailure: unknown
  readonly forgottenUploads: number
  /** Rows of deleted users that were taken off the books. */
  readonly purgedRows: number
}

export interface SweepReport extends SweepFigures {
  /**
   * `complete`: it went through all that was due. `gave_up`: the object store failed all removals of a page.
   * `elsewhere`: another sweep was under way, or took this one for dead, and does the rest.
   */
  readonly end: 'complete' | 'gave_up' | 'elsewhere'
}

export interface Sweeper {
  /**
   * Settles what crashes and failures left: uploads whose lease has ended, what aborted uploads wrote, objects that
   * no file refers to any more, and what deleted users owned. It removes a key only after winning the upload's
   * compare-and-set, or from `garbage` after its time (I7), so it is safe beside running uploads and other sweepers.
   * Of all sweepers one at a time does more than `expire`: that saves work, and nothing rests on it. When the disk of the
   * database is full, which keeps it from everything else, it first removes the objects of the garbage that is due.
   *
   * At most 8 removals are under way at a time, which bounds its rate; memory holds a page of keys. Objects that
   * can't be removed now are left for the next sweep. Rejects with `unavailable` when the database fails, and with the
   * reason of the signal when that aborts; the next sweep goes on where it ended.
   */
  sweep(request: SweepRequest): Promise<SweepReport>

  /** Aborts uploads whose lease has ended, and waits for no other sweeper; says how many. Rejects as `sweep` does. */
  expire(signal: AbortSignal): Promise<number>
}

export function createSweeper(options: SweeperOptions): Sweeper {
  const { ledger, leaseMs = LEASE_MS } = options

  async function sweep(request: SweepRequest): Promise<SweepReport> {
    const { signal, onProgress = () => undefined, onWait } = request
    const report = { ...NOTHING_DONE }
    const tell = (change: () => void): void => {
      change()
      onProgress({ ...report })
    }
    const run: SweepRun = {
      ...options,
      signal,
      onExpired: (uploads) => tell(() => (report.expiredUploads += uploads)),
      onPurged: (rows) => tell(() => (report.purgedRows += rows)),
      onForgotten: (uploads) => tell(() => (report.forgottenUploads += uploads)),
      onRemoved: () => tell(() => (report.removedObjects += 1)),
      onFailed: (error) =>
        tell(() => {
          report.failedRemovals += 1
          report.firstFailure ??= error
        }),
    }
    try {
      return await sweepInTurn()
    } catch (error) {
      // Objects go before their rows, and no row of garbage is ever referred to again, so this needs no write, and no lease.
      if (!isDatabaseFull(error)) throw error
      await goThrough(garbageRemover(run), signal)
      if (report.removedObjects === 0) throw error
      return await sweepInTurn()
    }

    async function sweepInTurn(): Promise<SweepReport> {
      await goThrough(expiry(run), signal)
      const chore = keepChore({ ledger, name: 'sweep', holder: randomUUID(), leaseMs })
      if (!(await chore.begin({ signal, onWait }))) return { ...report, end: 'elsewhere' }
      try {
        const end = await sweepAlone(run, chore)
        return { ...report, end }
      } finally {
        await chore.end()
      }
    }
  }

  return {
    sweep,
    async expire(signal) {
      let expired = 0
      const onExpired = (uploads: number): void => void (expired += uploads)
      await goThrough(expiry({ ledger, signal, onExpired }), signal)
      return expired
    },
  }
}

const LEASE_MS = 60_000

const NOTHING_DONE = {
  expiredUploads: 0,
  removedObjects: 0,
  failedRemovals: 0,
  firstFailure: undefined as unknown,
  forgottenUploads: 0,
  purgedRows: 0,
}

interface SweepRun extends RemovalRun, Pick<SweeperOptions, 'garbageDelayMs'> {
  readonly ledger: Ledger
  readonly onExpired: (uploads: number) => void
  readonly onPurged: (rows: number) => void
}

type Step = () => Promise<Progress>

/** All but the expiry, for as long as the chore is ours. */
async function sweepAlone(run: SweepRun, chore: KeptChore): Promise<SweepReport['end']> {
  const steps = [purge(run), forgetCommitted(run), abortedRemover(run), garbageRemover(run)]
  const ends: Progress[] = []
  for (const step of steps) {
    const end = await goThrough(async () => ((await chore.isOurs()) ? step() : 'lost'), run.signal)
    if (end === 'lost') return 'elsewhere'
    // The journal may be full of what nothing can remove while the garbage is not.
    ends.push(end)
  }
  return ends.includes('gave_up') ? 'gave_up' : 'complete'
}

/** Takes one step after the other, as long as there is more, and lets requests have their turn in between. */
async function goThrough<E extends string>(
  step: () => Promise<E | 'more'>,
  signal: AbortSignal,
): Promise<E> {
  for (;;) {
    signal.throwIfAborted()
    const progress = await step()
    if (progress !== 'more') return progress
    await pause(1, signal)
  }
}

const PAGE = 100

function expiry({
  ledger,
  signal,
  onExpired,
}: Pick<SweepRun, 'ledger' | 'signal' | 'onExpired'>): Step {
  return async () => {
    const expired = await ledger.listExpiredUploads(PAGE)
    let aborted = 0
    for (const upload of expired) {
      const settled = await ledger.abort({ ...upload, expiredOnly: true })
      if (settled === 'aborted') aborted += 1
      await pause(1, signal)
    }
    onExpired(aborted)
    return aborted > 0 ? 'more' : 'done'
  }
}

function purge({ ledger, retentionMs, garbageDelayMs = 0, onPurged }: SweepRun): Step {
  const keptMs = Math.max(retentionMs, garbageDelayMs)
  return async () => {
    const rows = await ledger.purgeDeletedUsers({ limit: PAGE, garbageDelayMs: keptMs })
    onPurged(rows)
    return rows > 0 ? 'more' : 'done'
  }
}

function forgetCommitted({ ledger, retentionMs, onForgotten }: SweepRun): Step {
  return async () => {
    const uploads = await ledger.forgetUploads({ retentionMs, limit: PAGE })
    onForgotten(uploads)
    return uploads > 0 ? 'more' : 'done'
  }
}
