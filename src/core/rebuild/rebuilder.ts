import { inChunks } from '../async/chunks.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { AppError } from '../errors.ts'
import type { FileName } from '../files/file-name.ts'
import type { FileVersion } from '../files/file.ts'
import {
  isVersion,
  OBJECT_KEY_PREFIX,
  type ObjectKey,
  ownerOf,
  timeOf,
  type Version,
  versionOf,
} from '../objects/object-key.ts'
import { descriptionIn, nameIn } from '../files/object-metadata.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { readStoredDigest } from '../objects/stored-digest.ts'
import type { UserId } from '../users/user-id.ts'
import { type RebuildLedger, UNREAD } from './rebuild-ledger.ts'

/** What a rebuild reports (docs/backup.md, "Rebuilding the database"). All but replaced objects stay as they are. */
export interface RebuildFinding {
  readonly kind: `${'replaced' | 'unnamed' | 'foreign' | 'copied' | 'unreadable'}_object`
  readonly objectKey: ObjectKey
  readonly userId?: UserId
  readonly name?: FileName
}

export interface RebuildRequest {
  /** Reads no content and leaves the database empty. */
  readonly dryRun: boolean
  /** Finishes without the objects that can't be read. If false, the rebuild stays unfinished because of them. */
  readonly skipUnreadable: boolean
  /** Called with each finding; none is kept. */
  readonly onFinding: (finding: RebuildFinding) => void
  /** Called once if an earlier run was interrupted, whose work is done again. */
  readonly onRestart: () => void
  /** Called for each page and each chunk of an object that is read, with the counts so far. */
  readonly onProgress: (counts: RebuildCounts) => void
  readonly signal: AbortSignal
}

export interface RebuildCounts {
  listed: number
  readBytes: number
  unreadable: number
  users: number
  /** The newest object of each user and name; `bytes` is their size. */
  files: number
  bytes: number
}

export type Rebuilder = ReturnType<typeof createRebuilder>

export const REBUILD_INTERRUPTED =
  'A rebuild was interrupted, so files are missing. Run "rebuild" again until it finishes.'

interface RebuilderOptions {
  readonly ledger: RebuildLedger
  readonly objects: ObjectStore
}

export function createRebuilder({ ledger, objects }: RebuilderOptions) {
  return {
    /** Rejects while a rebuild is unfinished: the database then holds only a part of the files. */
    async assertFinished(): Promise<void> {
      if (await ledger.isUnfinished()) throw new Error(REBUILD_INTERRUPTED)
    },
    /**
     * Rebuilds the database from the object store alone: the newest object of each user and name becomes a private
     * file, older ones become history, and others stay as they are. Requires an empty database or an interrupted run,
     * which starts over; otherwise rejects and changes nothing. No service may use the database meanwhile. Uses
     * constant memory. If objects are unreadable and not skipped, the rebuild stays unfinished. Rejects with
     * `unavailable` if the database or the object store fails, and with the signal's reason; the rebuild then stays
     * unfinished, except for a dry run.
     */
    async rebuild(request: RebuildRequest): Promise<RebuildCounts> {
      const { dryRun, skipUnreadable, signal } = request
      if ((await ledger.begin()) === 'restarted') request.onRestart()
      const counts = { listed: 0, readBytes: 0, unreadable: 0, users: 0, files: 0, bytes: 0 }
      const run = { ledger, objects, counts, ...request }
      try {
        await collectObjects(run)
        if (counts.unreadable > 0 && !skipUnreadable) return counts
        await settleObjects(run)
        if (!dryRun) await ledger.finish()
        return counts
      } catch (error) {
        // Adapters report `unavailable` for what the caller aborted.
        signal.throwIfAborted()
        throw error
      } finally {
        if (dryRun) await ledger.clear()
      }
    },
  }
}

interface Run extends RebuilderOptions, RebuildRequest {
  readonly counts: RebuildCounts
}

const OBJECTS_PER_TRANSACTION = 500
const PARALLEL_READS = 16

/** Adds every object that can be a file to the ledger, and reports the others. */
async function collectObjects(run: Run): Promise<void> {
  const { ledger, objects, counts, signal } = run
  const listing = objects.list({ prefix: OBJECT_KEY_PREFIX, signal })
  for await (const batch of inChunks(listing, OBJECTS_PER_TRANSACTION)) {
    signal.throwIfAborted()
    const found: FileVersion[] = []
    await forEachConcurrent(batch, PARALLEL_READS, async ({ key }) => {
      const version = await examine(run, key)
      if (version !== undefined) found.push(version)
    })
    const copies = await ledger.add(found)
    for (const objectKey of copies) run.onFinding({ kind: 'copied_object', objectKey })
    counts.listed += batch.length
    run.onProgress(counts)
  }
}

async function examine(run: Run, objectKey: ObjectKey): Promise<FileVersion | undefined> {
  const { objects, counts, signal, dryRun, onFinding } = run
  const [userId, version] = [ownerOf(objectKey), versionOf(objectKey)]
  if (userId === undefined || !isVersion(version)) {
    onFinding({ kind: 'foreign_object', objectKey })
    return undefined
  }
  const head = await objects.head({ key: objectKey, signal })
  if (head === undefined) {
    // Nothing removes objects meanwhile, and an older object would otherwise become the file.
    const detail = 'The object store lists an object that it then reports as missing.'
    throw new AppError('unavailable', detail, { cause: new Error(objectKey) })
  }
  const { size, metadata } = head
  const name = nameIn(metadata)
  if (name === undefined) {
    onFinding({ kind: 'unnamed_object', userId, objectKey })
    return undefined
  }
  const onBytes = (bytes: number): void => {
    counts.readBytes += bytes
    run.onProgress(counts)
  }
  const reading = { objects, key: objectKey, size, signal, onBytes }
  const stored = dryRun ? undefined : await readStoredDigest(reading)
  const { sha256, crc32 } = stored?.sha256 === undefined ? NOT_READ : stored
  if (sha256 === UNREAD && !dryRun) {
    counts.unreadable += 1
    onFinding({ kind: 'unreadable_object', userId, name, objectKey })
  }
  const [visibility, began] = ['private' as const, timeOf(version)]
  const described = { visibility, createdAt: began, updatedAt: began, ...descriptionIn(metadata) }
  return { userId, name, version, objectKey, size, sha256, crc32, ...described }
}

const NOT_READ = { sha256: UNREAD, crc32: 0 }

/** Makes the newest object of each name the file. If it can't be read, the name has none. */
async function settleObjects(run: Run): Promise<void> {
  const { ledger, counts, dryRun } = run
  let last: FileVersion | undefined
  for (;;) {
    run.signal.throwIfAborted()
    const page = await ledger.list({ before: last, limit: OBJECTS_PER_TRANSACTION })
    if (page.length === 0) return
    const settled: Version[] = []
    for (const object of page) {
      const { userId, name, version, objectKey, size, sha256 } = object
      const isSameUser = last?.userId === userId
      const isNewest = !isSameUser || last?.name !== name
      const isRead = dryRun || sha256 !== UNREAD
      counts.users += isSameUser ? 0 : 1
      counts.files += isNewest && isRead ? 1 : 0
      counts.bytes += isNewest && isRead ? size : 0
      if (isNewest || !isRead) settled.push(version)
      else run.onFinding({ kind: 'replaced_object', userId, name, objectKey })
      last = object
    }
    if (!dryRun) await ledger.settle(settled)
    run.onProgress(counts)
  }
}
