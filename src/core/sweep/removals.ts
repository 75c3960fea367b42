import { isDatabaseFull } from '../errors.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Failures } from './failures.ts'
import type { AbortedUpload, Garbage, Removals, SweepLedger } from './sweep-ledger.ts'
import type { UserId } from '../users/user-id.ts'

export interface RemovalRun {
  readonly ledger: SweepLedger
  readonly objects: ObjectStore
  readonly signal: AbortSignal
  /** The safe time, if the ledger could not store it. */
  readonly safe?: number | undefined
  /** Called for each object that was removed. */
  readonly onRemoved: () => void
  /** Called for each object that was not. */
  readonly onFailed: (error: unknown) => void
  /** Called for each page, with how many of its uploads the journal has forgotten. */
  readonly onForgotten: (uploads: number) => void
}

/** `gave_up`: a whole page failed, so the object store is considered down. */
export type SweepProgress = 'more' | 'done' | 'gave_up'

/** Each call removes a page of objects of aborted uploads. If the rows can't be changed, the next sweep repeats it. */
export function abortedRemover(run: RemovalRun, failures: Failures): () => Promise<SweepProgress> {
  const { ledger } = run
  let after: AbortedUpload | undefined

  async function note(removals: Removals<AbortedUpload>): Promise<void> {
    run.onForgotten(await ledger.noteAbortedRemovals(removals))
  }

  return async () => {
    const page = await ledger.listAbortedUploads({ after, limit: PAGE })
    const removals = await removePage(page, run)
    // Only a row that is deleted changes its user's figures.
    const userOf = ({ isLast, userId }: AbortedUpload) => (isLast ? userId : undefined)
    await noteByUser(removals, { failures, userOf, note })
    after = page.at(-1) ?? after
    return removals.progress
  }
}

/** Each call removes a page of garbage. If the rows can't be changed, they stay and the next sweep repeats it. */
export function garbageRemover(run: RemovalRun, failures: Failures): () => Promise<SweepProgress> {
  const { ledger } = run
  let after: Garbage | undefined

  async function note(removals: Removals<Garbage>): Promise<void> {
    await ledger.noteGarbageRemovals(removals).catch(passWhenFull)
  }

  return async () => {
    const page = await ledger.listGarbage({ after, limit: PAGE, safe: run.safe })
    const removals = await removePage(page, run)
    await noteByUser(removals, { failures, userOf: ({ userId }) => userId, note })
    after = page.at(-1) ?? after
    return removals.progress
  }
}

interface NoteOptions<T> {
  readonly failures: Failures
  /** The user whose figures the note changes, if any. */
  readonly userOf: (item: T) => UserId | undefined
  readonly note: (removals: Removals<T>) => Promise<void>
}

async function noteByUser<T>(
  { removed, failed }: RemovedPage<T>,
  { failures, userOf, note }: NoteOptions<T>,
): Promise<void> {
  const users = new Set([...removed, ...failed].map(userOf))
  await forEachConcurrent([...users], PARALLEL_NOTES, async (userId) => {
    const isTheirs = (item: T): boolean => userOf(item) === userId
    const [gone, left] = [removed.filter(isTheirs), failed.filter(isTheirs)]
    const work = () => note({ userId, removed: gone, failed: left })
    if (userId === undefined) return await work()
    // Each attempt may wait for a lock until its timeout.
    if (!failures.users().includes(userId)) await failures.attemptFor(userId, work)
  })
}

/** Enough users to share one write to the disk, and few enough to leave most connections to requests. */
const PARALLEL_NOTES = 4

function passWhenFull(error: unknown): void {
  if (!isDatabaseFull(error)) throw error
}

/** If the store does not answer, a page must still fail within the leader lease. */
const PAGE = 64

const PARALLEL_REMOVALS = 8

interface RemovedPage<T> {
  readonly removed: readonly T[]
  readonly failed: readonly T[]
  readonly progress: SweepProgress
}

async function removePage<T extends { readonly objectKey: ObjectKey }>(
  page: readonly T[],
  { ledger, objects, signal, onRemoved, onFailed }: RemovalRun,
): Promise<RemovedPage<T>> {
  const [removed, failed]: [T[], T[]] = [[], []]
  // After a failover, a file may refer again to an object that was replaced without a confirmation.
  if (page.length > 0) await ledger.confirm()
  await forEachConcurrent(page, PARALLEL_REMOVALS, async (item) => {
    if (signal.aborted) return
    try {
      await objects.remove({ key: item.objectKey, signal })
      removed.push(item)
      onRemoved()
    } catch (error) {
      if (signal.aborted) return
      failed.push(item)
      onFailed(error)
    }
  })
  return { removed, failed, progress: progressOf(page.length, failed.length) }
}

function progressOf(tried: number, failed: number): SweepProgress {
  if (tried < PAGE) return 'done'
  // The store is down: the remaining pages would fail too.
  return failed === tried ? 'gave_up' : 'more'
}
