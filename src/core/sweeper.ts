import { inParallel } from './in-parallel.ts'
import type { Ledger } from './ledger.ts'
import type { ObjectKey } from './object-key.ts'
import type { ObjectStore } from './object-store.ts'
import type { Version } from './version.ts'

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
}

/** What one sweep did. */
export interface SweepReport {
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

export interface Sweeper {
  /**
   * Settles what crashes and failures left: uploads whose lease has ended, what aborted uploads wrote, objects that
   * no file refers to any more, and what deleted users owned. It removes a key only after winning the upload's
   * compare-and-set, or from `garbage` after its time (I7), so it is safe beside running uploads and other sweepers.
   * Objects that can't be removed now are left for the next sweep. Rejects with `unavailable` when the database fails.
   */
  sweep(signal: AbortSignal): Promise<SweepReport>
}

const PAGE = 100
const PARALLEL_REMOVALS = 8

export function createSweeper(options: SweeperOptions): Sweeper {
  const { ledger, objects, retentionMs, garbageDelayMs = 0 } = options

  async function sweep(signal: AbortSignal): Promise<SweepReport> {
    const purge = { limit: PAGE, garbageDelayMs: Math.max(retentionMs, garbageDelayMs) }
    const purgedRows = await repeat(() => ledger.purgeDeletedUsers(purge), signal)
    const expiredUploads = await repeat(() => abortExpired(ledger), signal)
    const removals: Removals = { objects, signal, removed: 0, failed: 0, firstFailure: undefined }
    await removeAborted(ledger, removals)
    // A row is the only trace of an object that could not be removed, so while one is left these rows stay.
    const forgettable = removals.failed === 0 ? 'settled' : 'committed'
    const forgottenUploads = await repeat(
      () => ledger.forgetUploads({ which: forgettable, retentionMs, limit: PAGE }),
      signal,
    )
    await removeGarbage(ledger, removals)
    return {
      expiredUploads,
      removedObjects: removals.removed,
      failedRemovals: removals.failed,
      firstFailure: removals.firstFailure,
      forgottenUploads,
      purgedRows,
    }
  }

  return { sweep }
}

async function abortExpired(ledger: Ledger): Promise<number> {
  const expired = await ledger.listExpiredUploads(PAGE)
  let aborted = 0
  for (const upload of expired) {
    const settled = await ledger.abort({ ...upload, expiredOnly: true })
    if (settled === 'aborted') aborted += 1
  }
  return aborted
}

/** The removals of one sweep: what they need, and how they went. */
interface Removals {
  readonly objects: ObjectStore
  readonly signal: AbortSignal
  removed: number
  failed: number
  firstFailure: unknown
}

async function removeAborted(ledger: Ledger, removals: Removals): Promise<void> {
  let after: Version | undefined
  do {
    removals.signal.throwIfAborted()
    const page = await ledger.listAbortedUploads({ after, limit: PAGE })
    await removeAll(
      page.map(({ objectKey }) => objectKey),
      removals,
    )
    after = page.at(-1)?.version
  } while (after !== undefined)
}

async function removeGarbage(ledger: Ledger, removals: Removals): Promise<void> {
  let after: ObjectKey | undefined
  do {
    removals.signal.throwIfAborted()
    const page = await ledger.listGarbage({ after, limit: PAGE })
    await ledger.forgetGarbage(await removeAll(page, removals))
    after = page.at(-1)
  } while (after !== undefined)
}

/** Removes objects a few at a time and returns the keys that are now empty. */
async function removeAll(
  keys: readonly ObjectKey[],
  removals: Removals,
): Promise<readonly ObjectKey[]> {
  const { objects, signal } = removals
  const gone: ObjectKey[] = []
  await inParallel(keys, PARALLEL_REMOVALS, async (key) => {
    try {
      await objects.remove({ key, signal })
      gone.push(key)
    } catch (error) {
      // Its row keeps it for the next sweep.
      removals.failed += 1
      removals.firstFailure ??= error
    }
  })
  removals.removed += gone.length
  return gone
}

/** Calls `step` until it has nothing more to do; adds up what it did. */
async function repeat(step: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let total = 0
  for (let done = await step(); done > 0; done = await step()) {
    signal.throwIfAborted()
    total += done
  }
  return total
}
