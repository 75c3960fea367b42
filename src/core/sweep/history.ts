import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { Deletion, HistoryLedger } from '../history/history-ledger.ts'
import { markerKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Failures } from './failures.ts'
import type { SweepProgress } from './removals.ts'

interface HistoryRun {
  readonly ledger: HistoryLedger
  readonly objects: ObjectStore
  readonly signal: AbortSignal
  readonly onFailed: (error: unknown) => void
}

const USERS_PER_PAGE = 20
const VERSIONS_PER_PAGE = 100

/** Each call drops a page of each of some users' versions that have expired or exceed the allowance. */
export function historyTrimmer(
  { ledger, garbageDelayMs }: HistoryRun & { readonly garbageDelayMs: number },
  failures: Failures,
): () => Promise<SweepProgress> {
  return async () => {
    const users = await ledger.listUsersToTrim({ except: failures.users(), limit: USERS_PER_PAGE })
    let dropped = 0
    for (const userId of users) {
      const trim = { userId, limit: VERSIONS_PER_PAGE, garbageDelayMs }
      dropped += (await failures.attemptFor(userId, () => ledger.trimHistory(trim))) ?? 0
    }
    return dropped > 0 ? 'more' : 'done'
  }
}

const DELETIONS_PER_PAGE = 64
const PARALLEL_PUTS = 8

/**
 * Each call marks a page of deletions in the store, so that a rebuild does not take them for files. The markers are
 * journaled as garbage first: if the sweep ends in between, the next one repeats it.
 */
export function deletionMarker(run: HistoryRun, failures: Failures): () => Promise<SweepProgress> {
  const { ledger } = run
  return async () => {
    const except = failures.users()
    const page = await ledger.listUnmarked({ except, limit: DELETIONS_PER_PAGE })
    let marked = 0
    for (const [userId, deletions] of Map.groupBy(page, (deletion) => deletion.userId)) {
      await failures.attemptFor(userId, async () => {
        await ledger.journalMarkers({ userId, deletions })
        const done = await putMarkers(run, deletions)
        await ledger.recordMarkers({ userId, deletions: done })
        marked += done.length
      })
    }
    if (marked === 0 && page.length > 0) return 'gave_up'
    return page.length < DELETIONS_PER_PAGE ? 'done' : 'more'
  }
}

/** Returns those whose marker the store has. */
async function putMarkers(
  { objects, signal, onFailed }: HistoryRun,
  deletions: readonly Deletion[],
): Promise<readonly Deletion[]> {
  const done: Deletion[] = []
  await forEachConcurrent(deletions, PARALLEL_PUTS, async (deletion) => {
    if (signal.aborted) return
    const key = markerKey(deletion.objectKey)
    try {
      // A put is refused if an earlier sweep was interrupted after its own.
      if ((await objects.head({ key, signal })) === undefined) {
        await objects.put({ key, body: new Uint8Array(0), expectedSize: 0, signal })
      }
      done.push(deletion)
    } catch (error) {
      if (!signal.aborted) onFailed(error)
    }
  })
  return done
}
