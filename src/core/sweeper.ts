import type { Ledger } from './ledger.ts'
import type { ObjectKey } from './object-key.ts'
import type { ObjectStore } from './object-store.ts'
import type { Version } from './version.ts'

export interface SweeperOptions {
  readonly ledger: Ledger
  readonly objects: ObjectStore
  /**
   * How long an aborted upload stays in the journal, in milliseconds: longer than any write that was on its way
   * when it was aborted can still land in the object store.
   */
  readonly retentionMs: number
}

/** What one sweep did. */
export interface SweepReport {
  readonly expiredUploads: number
  /** Keys of aborted uploads and of garbage that are now empty. */
  readonly removedObjects: number
  /** Keys whose removal failed; the next sweep tries again. */
  readonly failedRemovals: number
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

export function createSweeper({ ledger, objects, retentionMs }: SweeperOptions): Sweeper {
  async function sweep(signal: AbortSignal): Promise<SweepReport> {
    const purgedRows = await repeat(() => ledger.purgeDeletedUsers(PAGE), signal)
    const expiredUploads = await abortExpired(signal)
    const aborted = await removeAborted(signal)
    // A row is the only trace of an object that could not be removed, so while one is left all rows stay.
    const forgottenUploads =
      aborted.failed === 0
        ? await repeat(() => ledger.forgetSettledUploads({ retentionMs, limit: PAGE }), signal)
        : 0
    const garbage = await removeGarbage(signal)
    return {
      expiredUploads,
      removedObjects: aborted.removed + garbage.removed,
      failedRemovals: aborted.failed + garbage.failed,
      forgottenUploads,
      purgedRows,
    }
  }

  async function abortExpired(signal: AbortSignal): Promise<number> {
    return repeat(async () => {
      const expired = await ledger.listExpiredUploads(PAGE)
      let aborted = 0
      for (const upload of expired) {
        const settled = await ledger.abort({ ...upload, expiredOnly: true })
        if (settled === 'aborted') aborted += 1
      }
      return aborted
    }, signal)
  }

  async function removeAborted(signal: AbortSignal): Promise<Removals> {
    const total = { removed: 0, failed: 0 }
    let after: Version | undefined
    do {
      signal.throwIfAborted()
      const page = await ledger.listAbortedUploads({ after, limit: PAGE })
      const gone = await removeAll(
        page.map(({ objectKey }) => objectKey),
        signal,
      )
      total.removed += gone.length
      total.failed += page.length - gone.length
      after = page.at(-1)?.version
    } while (after !== undefined)
    return total
  }

  async function removeGarbage(signal: AbortSignal): Promise<Removals> {
    const total = { removed: 0, failed: 0 }
    let after: ObjectKey | undefined
    do {
      signal.throwIfAborted()
      const page = await ledger.listGarbage({ after, limit: PAGE })
      const gone = await removeAll(page, signal)
      await ledger.forgetGarbage(gone)
      total.removed += gone.length
      total.failed += page.length - gone.length
      after = page.at(-1)
    } while (after !== undefined)
    return total
  }

  /** Removes objects a few at a time and returns the keys that are now empty. */
  async function removeAll(
    keys: readonly ObjectKey[],
    signal: AbortSignal,
  ): Promise<readonly ObjectKey[]> {
    const gone: ObjectKey[] = []
    const waiting = [...keys]
    async function work(): Promise<void> {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        try {
          await objects.remove({ key, signal })
          gone.push(key)
        } catch {
          // Counted as failed by its absence from `gone`; its row keeps it for the next sweep.
        }
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_REMOVALS }, work))
    return gone
  }

  return { sweep }
}

interface Removals {
  readonly removed: number
  readonly failed: number
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
