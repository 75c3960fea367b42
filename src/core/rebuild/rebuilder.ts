import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { readStoredDigest } from '../objects/stored-digest.ts'
import { collectObjects } from './collect.ts'
import type { FoundObject, JournaledObject, ReadObject } from './journal.ts'
import {
  type RebuildCounts,
  type RebuilderOptions,
  type RebuildRequest,
  type RebuildRun,
  startRun,
} from './rebuild-run.ts'

export type Rebuilt =
  | { readonly refused: true }
  | { readonly refused: false; readonly isFinished: boolean; readonly counts: RebuildCounts }

export interface Rebuilder {
  /**
   * Rebuilds the database from the object store alone: the newest object of each user and name that is not past becomes
   * a private file with the SHA-256 of its content, others become garbage, and objects without a readable name stay. Requires an
   * empty database or an interrupted run, which starts over; otherwise returns `refused` and changes nothing. No service
   * may use the database meanwhile. Uses constant memory. If objects are unreadable and not skipped, the rebuild stays
   * unfinished. Rejects with `unavailable` if the database or the object store fails, and with the signal's reason; the
   * rebuild then stays unfinished.
   */
  rebuild(request: RebuildRequest): Promise<Rebuilt>

  /** Whether a run was interrupted: the database then holds only a part of the files. */
  isUnfinished(): Promise<boolean>
}

export function createRebuilder(options: RebuilderOptions): Rebuilder {
  const { journal } = options

  async function rebuild(request: RebuildRequest): Promise<Rebuilt> {
    const { dryRun, skipUnreadable = false, signal } = request
    const run = startRun(options, request)
    const start = await journal.begin()
    if (start === 'refused') return { refused: true }
    if (start === 'restarted') request.onRestart?.()
    // A restarted run leaves users, so the journal stays to show that the database is not in use.
    const endsHere = dryRun && start === 'begun'
    const { counts } = run
    try {
      await collectObjects(run)
      await settleObjects(run)
    } catch (error) {
      if (endsHere) await journal.finish().catch(() => undefined)
      // Adapters report `unavailable` for what the caller aborted.
      signal.throwIfAborted()
      throw error
    }
    const isWhole = skipUnreadable || counts.found.unreadable_object === 0
    const isFinished = dryRun ? endsHere : isWhole
    if (isFinished) await journal.finish()
    return { refused: false, isFinished, counts }
  }

  return { rebuild, isUnfinished: () => journal.isUnfinished() }
}

const OBJECTS_PER_TRANSACTION = 500
const PARALLEL_READS = 8

/**
 * The newest object of a name that is not past becomes the file. If it can't be read, the older ones are left alone, too.
 */
async function settleObjects(run: RebuildRun): Promise<void> {
  const { journal, garbageDelayMs, signal, counts, dryRun } = run
  let last: JournaledObject | undefined
  /** Of the name of the last object. */
  let hasFile = false
  let isFileRead = true
  for (;;) {
    signal.throwIfAborted()
    const page = await journal.list({ before: last, limit: OBJECTS_PER_TRANSACTION })
    if (page.length === 0) return
    const current = new Set<JournaledObject>()
    const firstOfName = new Set<JournaledObject>()
    for (const object of page) {
      const isSameUser = last?.userId === object.userId
      if (!isSameUser) counts.users += 1
      if (!isSameUser || last?.name !== object.name) {
        firstOfName.add(object)
        hasFile = false
      }
      if (!object.isPast && !hasFile) {
        current.add(object)
        hasFile = true
      }
      last = object
    }
    const past = page.filter(({ isPast }) => isPast).length
    counts.files += current.size
    counts.bytes += [...current].reduce((sum, { size }) => sum + size, 0)
    counts.past += past
    counts.replaced += page.length - current.size - past
    if (dryRun) continue
    const digests = await readDigests(run, [...current])
    const files: ReadObject[] = []
    const garbage: JournaledObject[] = []
    for (const object of page) {
      const sha256 = digests.get(object)
      if (firstOfName.has(object)) isFileRead = true
      if (current.has(object)) isFileRead = sha256 !== undefined
      if (sha256 !== undefined) files.push({ ...object, sha256 })
      else if (isFileRead) garbage.push(object)
    }
    await journal.settle({ files, garbage, garbageDelayMs })
    for (const { userId, name, objectKey, isPast } of garbage) {
      run.report({ kind: isPast ? 'past_object' : 'replaced_object', userId, name, objectKey })
    }
    counts.settled += files.length + garbage.length
    run.onProgress?.(counts)
  }
}

async function readDigests(
  run: RebuildRun,
  objects: readonly FoundObject[],
): Promise<ReadonlyMap<FoundObject, string>> {
  const digests = new Map<FoundObject, string>()
  await forEachConcurrent(objects, PARALLEL_READS, async (object) => {
    const sha256 = await digestOf(run, object)
    if (sha256 !== undefined) digests.set(object, sha256)
    else run.report({ kind: 'unreadable_object', ...object })
  })
  return digests
}

async function digestOf(run: RebuildRun, object: FoundObject): Promise<string | undefined> {
  const { objects, signal, counts } = run
  const { objectKey: key, size } = object
  const onBytes = (bytes: number): void => {
    counts.readBytes += bytes
    run.onProgress?.(counts)
  }
  const { sha256 } = await readStoredDigest({ objects, key, size, signal, onBytes })
  if (sha256 !== undefined) counts.readObjects += 1
  return sha256
}
