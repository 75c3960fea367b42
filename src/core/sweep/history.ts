import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { HistoryLedger, Unmarked } from '../history/history-ledger.ts'
import { markerKey, type ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { type Failures, ifRoom, NO_ROOM } from './failures.ts'
import type { SweepProgress } from './removals.ts'

interface HistoryRun {
  readonly ledger: HistoryLedger
  readonly objects: ObjectStore
  readonly signal: AbortSignal
  readonly onFailed: (error: unknown) => void
}

const USERS_PER_PAGE = 20
/** Small, because PostgreSQL takes 0.3 ms for each version while it holds the user's lock. */
const VERSIONS_PER_PAGE = 10

/** Each call drops a page of each of some users' versions that have expired or exceed the allowance. */
export function historyTrimmer(
  { ledger, garbageDelayMs }: HistoryRun & { readonly garbageDelayMs: number },
  failures: Failures,
): () => Promise<SweepProgress> {
  return async () => {
    const users = await ledger.listUsersToTrim({ except: failures.users(), limit: USERS_PER_PAGE })
    for (const userId of users) {
      const trim = { userId, limit: VERSIONS_PER_PAGE, garbageDelayMs }
      await failures.attemptFor(userId, () => ledger.trimHistory(trim))
    }
    return users.length > 0 ? 'more' : 'done'
  }
}

const UNMARKED_PER_PAGE = 64
const PARALLEL_USERS = 4
const PARALLEL_PUTS = 8

/**
 * Each call marks a page of past versions in the store, so that a rebuild does not take them for files. The markers are
 * journaled as garbage first: if the sweep ends in between, the next one repeats it. A sweep marks all deleted versions,
 * but only a page of replaced ones: most of these have a newer file, and marking each at once would cost a third of the
 * rate of overwrites.
 */
export function versionMarker(run: HistoryRun, failures: Failures): () => Promise<SweepProgress> {
  const { ledger } = run
  let isDone = false
  return async () => {
    if (isDone) return 'done'
    const except = failures.users()
    const page = await ledger.listUnmarked({ except, limit: UNMARKED_PER_PAGE })
    const users = [...Map.groupBy(page, ({ userId }) => userId)]
    let [tried, marked] = [0, 0]
    let isNoRoom = false
    await forEachConcurrent(users, PARALLEL_USERS, async ([userId, unmarked]) => {
      await failures.attemptFor(userId, async () => {
        const versions = await ifRoom(() => ledger.journalMarkers({ userId, versions: unmarked }))
        if (versions === NO_ROOM) {
          isNoRoom = true
          return
        }
        tried += versions.length
        const done = await putMarkers(run, versions)
        await ledger.recordMarkers({ userId, versions: done })
        marked += done.length
      })
    })
    if (tried > 0 && marked === 0) return 'gave_up'
    // A later sweep marks them.
    isDone = isNoRoom || page.length < UNMARKED_PER_PAGE || page.at(-1)?.endedAs === 'replaced'
    return isDone ? 'done' : 'more'
  }
}

/** Returns those whose marker the store has. */
async function putMarkers(
  run: HistoryRun,
  versions: readonly Unmarked[],
): Promise<readonly Unmarked[]> {
  const done: Unmarked[] = []
  await forEachConcurrent(versions, PARALLEL_PUTS, async (version) => {
    if (run.signal.aborted) return
    try {
      await putMarker(run, markerKey(version.objectKey))
      done.push(version)
    } catch (error) {
      if (!run.signal.aborted) run.onFailed(error)
    }
  })
  return done
}

async function putMarker({ objects, signal }: HistoryRun, key: ObjectKey): Promise<void> {
  try {
    await objects.put({ key, body: new Uint8Array(0), expectedSize: 0, signal })
  } catch (error) {
    // A store may refuse a key that it has, if an earlier sweep was interrupted after its own put.
    if ((await objects.head({ key, signal })) === undefined) throw error
  }
}
