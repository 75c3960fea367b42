import { randomUUID } from 'node:crypto'
import type { AuditLedger } from '../audit/audit-ledger.ts'
import { isDatabaseFull } from '../errors.ts'
import { createLeaderLease, type LeaderLease, type LeaderLeases } from './leader-lease.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { sleep } from '../async/sleep.ts'
import type { SafeClock } from '../clock/safe-clock.ts'
import type { HistoryLedger } from '../history/history-ledger.ts'
import { createFailures, type Failures } from './failures.ts'
import { abortedRemover, garbageRemover } from './removals.ts'
import {
  actionForgetter,
  changeForgetter,
  dropEnder,
  expiry,
  fileExpirer,
  forgetCommitted,
  historyTrimmer,
  purge,
  type ExpiryRun,
  type SweepRun,
} from './steps.ts'
import type { SweepLedger } from './sweep-ledger.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'

export interface SweeperOptions {
  readonly ledger: SweepLedger & HistoryLedger & UploadLedger & AuditLedger & LeaderLeases
  readonly objects: ObjectStore
  /** How long changes are kept; 7 days by default. */
  readonly eventLifetimeMs?: number
  /** How long a crashed sweeper blocks the others; one minute by default. */
  readonly leaseMs?: number
  /** By default the database's clock is trusted, as in tests that move it. */
  readonly safeClock?: SafeClock | undefined
}

export interface SweepRequest {
  readonly signal: AbortSignal
  /** Called for each page and each object, with the figures so far. */
  readonly onProgress?: (figures: SweepFigures) => void
  /** After this time the sweep leaves the rest to the next one; no limit by default. */
  readonly maxMs?: number | undefined
  /** If set, wait for a running sweep to finish instead of returning; called once when waiting starts. */
  readonly onWait?: (() => void) | undefined
  /** An operator vouches for the clock, so that what has ended by it is destroyed now. */
  readonly isClockTrusted?: boolean | undefined
}

export interface SweepFigures {
  readonly expiredUploads: number
  /** Keys of aborted uploads and of garbage that are now empty. */
  readonly removedObjects: number
  readonly failedRemovals: number
  readonly firstFailure: unknown
  readonly forgottenUploads: number
  readonly purgedRows: number
}

export interface SweepReport extends SweepFigures {
  /**
   * `complete`: nothing more was due, or `maxMs` was over. `gave_up`: a whole page of removals failed. `elsewhere`:
   * another sweep was running or took over.
   */
  readonly end: 'complete' | 'gave_up' | 'elsewhere'
}

export type Sweeper = ReturnType<typeof createSweeper>

export function createSweeper(options: SweeperOptions) {
  const { ledger, leaseMs = LEASE_MS, safeClock } = options
  const changesSwept: SweepRun['changesSwept'] = { last: undefined }

  async function sweep(request: SweepRequest): Promise<SweepReport> {
    const {
      signal,
      maxMs = Infinity,
      onProgress = () => undefined,
      onWait,
      isClockTrusted,
    } = request
    const report = { ...NOTHING_DONE }
    const tell = (change: () => void): void => {
      change()
      onProgress({ ...report })
    }
    const run: SweepRun = {
      ...options,
      changesSwept,
      signal,
      maxMs,
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
      // Objects go before their rows, and garbage is never referred to again: this needs neither write nor lease.
      if (!isDatabaseFull(error)) throw error
      const failures = createFailures(() => ledger.check(), signal)
      await runUntilDone(garbageRemover({ ...run, safe: safeClock?.safe() }, failures), signal)
      failures.throwFirst()
      if (report.removedObjects === 0) throw error
      return await sweepInTurn()
    }

    async function sweepInTurn(): Promise<SweepReport> {
      const failures = createFailures(() => ledger.check(), signal)
      await failures.attempt(() => expireUploads(run, failures))
      const lease = createLeaderLease({ ledger, name: 'sweep', holder: randomUUID(), leaseMs })
      let end: SweepReport['end'] = 'elsewhere'
      if (await lease.acquire(signal, onWait)) {
        try {
          await safeClock?.advance({ isTrusted: isClockTrusted })
          end = await sweepAlone(run, { lease, failures })
        } finally {
          await lease.release()
        }
      }
      failures.throwFirst()
      return { ...report, end }
    }
  }

  /** After a jump of the clock, leases have ended that are about to be renewed. */
  async function expireUploads(run: ExpiryRun, failures: Failures): Promise<void> {
    if (await safeClock?.read()) return
    await runUntilDone(expiry(run, failures), run.signal)
  }

  return {
    /**
     * Cleans up after crashes and failures: expired uploads, objects of aborted uploads, unreferenced objects, and the
     * files and rows of deleted users. Removes a key only after winning the upload's compare-and-set, or from `garbage`
     * once it is due (I7), so it is safe alongside uploads and other sweepers. Only one sweeper at a time does more
     * than `expire`; this only saves work. If the database's disk is full, the objects of due garbage are removed
     * first. At most 8 removals run at a time; memory holds one page of keys. What becomes due meanwhile is left to the
     * next sweep. A user whose rows can't be changed is tried once; the sweep finishes all other work and then rejects
     * with the first such failure, which names the user. Rejects with `unavailable` if the database fails, and with the
     * signal's reason; the next sweep continues and retries.
     */
    sweep,
    /** Aborts expired uploads, without waiting for other sweepers, and returns how many. Rejects as `sweep` does. */
    async expire(signal: AbortSignal): Promise<number> {
      let expired = 0
      const onExpired = (uploads: number): void => void (expired += uploads)
      const failures = createFailures(() => ledger.check(), signal)
      await expireUploads({ ledger, signal, onExpired }, failures)
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

async function sweepAlone(
  run: SweepRun,
  { lease, failures }: { readonly lease: LeaderLease; readonly failures: Failures },
): Promise<SweepReport['end']> {
  const endsAt = performance.now() + run.maxMs
  let gaveUp = false
  let steps = [
    purge(run, failures),
    forgetCommitted(run),
    changeForgetter(run),
    historyTrimmer(run, failures),
    fileExpirer(run, failures),
    dropEnder(run, failures),
    abortedRemover(run, failures),
    garbageRemover(run, failures),
    actionForgetter(run),
  ]
  // In turns: one user can keep a step from its end for as long as that user's uploads are cancelled.
  for (let more = true; more && performance.now() < endsAt;) {
    more = false
    for (const step of steps) {
      run.signal.throwIfAborted()
      if (!(await lease.isHeld())) return 'elsewhere'
      const end = await failures.attempt(step)
      if (end === 'more') more = true
      if (end === 'gave_up') gaveUp = true
      // The others go on: only the journal may hold objects that can't be removed.
      if (end === 'gave_up' || end === undefined) steps = steps.filter((each) => each !== step)
      await sleep(1, run.signal)
    }
  }
  return gaveUp ? 'gave_up' : 'complete'
}

/** Repeats the step until it is done, and lets requests run in between. */
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
