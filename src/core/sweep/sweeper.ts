import { randomUUID } from 'node:crypto'
import { isDatabaseFull } from '../errors.ts'
import { keepLeaderLease, type LeaderLease } from './leader-lease.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { sleep } from '../async/sleep.ts'
import { createFailures, type Failures } from './failures.ts'
import { abortedRemover, garbageRemover, type Progress, type RemovalRun } from './removals.ts'
import type { UserId } from '../users/user-id.ts'

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
  /** If set, wait for a running sweep to finish instead of returning; called once when waiting starts. */
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
   * can't be removed now are left for the next sweep. A user whose rows it can't change keeps it from nothing else: it
   * tries each user once, does all it can, and then rejects with the first failure, which names the user. Rejects with
   * `unavailable` when the database fails, and with the reason of the signal when that aborts; the next sweep goes on
   * where it ended.
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
      const failures = createFailures(run)
      await runUntilDone(garbageRemover(run, failures), signal)
      failures.throwFirst()
      if (report.removedObjects === 0) throw error
      return await sweepInTurn()
    }

    async function sweepInTurn(): Promise<SweepReport> {
      const failures = createFailures(run)
      await failures.attempt(() => runUntilDone(expiry(run, failures), signal))
      const chore = keepLeaderLease({ ledger, name: 'sweep', holder: randomUUID(), leaseMs })
      let end: SweepReport['end'] = 'elsewhere'
      if (await chore.begin({ signal, onWait })) {
        try {
          end = await sweepAlone(run, { chore, failures })
        } finally {
          await chore.end()
        }
      }
      failures.throwFirst()
      return { ...report, end }
    }
  }

  return {
    sweep,
    async expire(signal) {
      let expired = 0
      const onExpired = (uploads: number): void => void (expired += uploads)
      const failures = createFailures({ ledger, signal })
      await runUntilDone(expiry({ ledger, signal, onExpired }, failures), signal)
      failures.throwFirst()
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
async function sweepAlone(
  run: SweepRun,
  { chore, failures }: { readonly chore: LeaderLease; readonly failures: Failures },
): Promise<SweepReport['end']> {
  const steps = [
    purge(run, failures),
    forgetCommitted(run),
    abortedRemover(run),
    garbageRemover(run, failures),
  ]
  const ends: (Progress | undefined)[] = []
  for (const step of steps) {
    const oneStep = async () => ((await chore.isHeld()) ? step() : 'lost')
    const end = await failures.attempt(() => runUntilDone(oneStep, run.signal))
    if (end === 'lost') return 'elsewhere'
    // The journal may be full of what nothing can remove while the garbage is not.
    ends.push(end)
  }
  return ends.includes('gave_up') ? 'gave_up' : 'complete'
}

/** Takes one step after the other, as long as there is more, and lets requests have their turn in between. */
async function runUntilDone<E extends string>(
  step: () => Promise<E | 'more'>,
  signal: AbortSignal,
): Promise<E> {
  for (;;) {
    signal.throwIfAborted()
    const progress = await step()
    if (progress !== 'more') return progress
    await sleep(1, signal)
  }
}

const PAGE = 100

/** Where so many fail, it is no longer some users' trouble. */
const MAX_FAILED_USERS = 500

/** One call aborts a page of expired uploads, of users for whom that has not failed. */
function expiry(
  { ledger, signal, onExpired }: Pick<SweepRun, 'ledger' | 'signal' | 'onExpired'>,
  failures: Failures,
): Step {
  return async () => {
    const page = await ledger.listExpiredUploads({ except: failures.users(), limit: PAGE })
    const failedBefore = failures.users().length
    let aborted = 0
    for (const { userId, version } of page) {
      // Each attempt can take as long as a lock is waited for.
      if (failures.users().includes(userId)) continue
      const abort = { userId, version, expiredOnly: true }
      const settled = await failures.attemptFor(userId, () => ledger.abort(abort))
      if (settled === 'aborted') aborted += 1
      await sleep(1, signal)
    }
    onExpired(aborted)
    const failed = failures.users().length
    const isShorter = aborted > 0 || failed > failedBefore
    return isShorter && failed < MAX_FAILED_USERS ? 'more' : 'done'
  }
}

/** One call purges a page of one user's rows; of a user who can't be purged, the next call goes on with the one after. */
function purge(
  { ledger, retentionMs, garbageDelayMs = 0, onPurged }: SweepRun,
  failures: Failures,
): Step {
  const keptMs = Math.max(retentionMs, garbageDelayMs)
  let after: UserId | undefined
  return async () => {
    const userId = await ledger.findUserToPurge(after)
    if (userId === undefined) return 'done'
    const page = { userId, limit: PAGE, garbageDelayMs: keptMs }
    const rows = (await failures.attemptFor(userId, () => ledger.purgeDeletedUsers(page))) ?? 0
    // Of whom nothing was moved this time, nothing would be the next time.
    if (rows === 0) after = userId
    onPurged(rows)
    return 'more'
  }
}

function forgetCommitted({ ledger, retentionMs, onForgotten }: SweepRun): Step {
  return async () => {
    const uploads = await ledger.forgetUploads({ retentionMs, limit: PAGE })
    onForgotten(uploads)
    return uploads > 0 ? 'more' : 'done'
  }
}
