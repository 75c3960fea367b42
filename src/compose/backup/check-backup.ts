import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BackupCopy,
  DATABASE_NAME,
  listCopies,
  partsOf,
  readManifest,
} from '../../core/backup/backup-folder.ts'
import type { BackupFinding } from '../../core/backup/finding.ts'
import type { Manifest } from '../../core/backup/manifest.ts'
import type { NamedContent, UnfinishedContent } from '../../core/backup/named-object.ts'
import type { CheckedBackup } from '../../core/backup/results.ts'
import { digestOfFile } from '../../core/digest-of-file.ts'
import { messageOf } from '../../core/errors.ts'
import { readStoredDigest } from '../../core/objects/stored-digest.ts'
import type { ObjectStore } from '../../core/objects/object-store.ts'
import { DatabaseCopy } from '../../database/sqlite/database-copy.ts'
import { pieceOf } from '../../object-store/filesystem/copy-objects.ts'
import { readIdentity } from '../../object-store/filesystem/identity.ts'
import { orMissing } from '../../object-store/filesystem/or-missing.ts'
import { PACK_NAME } from '../../object-store/filesystem/pack/pack-file.ts'
import { isSealed } from '../../object-store/filesystem/pack/pack-seal.ts'
import { createFilesystemStore } from '../../object-store/filesystem/store.ts'

export interface CheckBackup {
  readonly directory: string
  readonly onFinding: (finding: BackupFinding) => void
  readonly onProgress: (checked: CheckedBackup) => void
  readonly signal: AbortSignal
}

/**
 * Reads all complete copies, and every object that they name once. Reports each difference from what their databases hold.
 * Changes nothing.
 */
export async function checkBackup(options: CheckBackup): Promise<CheckedBackup> {
  const { directory, onFinding } = options
  const copies = await listCopies(directory)
  if (copies.length === 0) throw new Error(`${directory} has no complete copy.`)
  const { objects, unfinished } = partsOf(directory)
  const store = createFilesystemStore({ directory: objects })
  const checked = { copies: 0, objects: 0, objectBytes: 0 }
  await using opened = new AsyncDisposableStack()
  opened.defer(() => store.close())
  const newer: DatabaseCopy[] = []
  for (const copy of copies) {
    const database = await openSound(copy, options)
    checked.copies += 1
    if (database === undefined) continue
    opened.use(database)
    await checkContents({ ...options, copy, database, newer, store, checked })
    newer.push(database)
  }
  // What a run that was interrupted has added is not sealed yet.
  const isWhole = existsSync(unfinished) || (await isSealed(join(objects, PACK_NAME)))
  if (!isWhole) onFinding({ kind: 'damaged_pack' })
  return checked
}

/** Resolves to `undefined`, and reports why, if the copy is damaged. */
async function openSound(
  copy: BackupCopy,
  { directory, onFinding }: CheckBackup,
): Promise<DatabaseCopy | undefined> {
  const { time, folder } = copy
  const manifest = await readManifest(copy).catch(() => undefined)
  if (manifest === undefined) {
    onFinding({ kind: 'damaged_manifest', copy: time })
    return undefined
  }
  const storeId = (await readIdentity(partsOf(directory).objects)) ?? 'none'
  if (storeId !== manifest.store_id) {
    onFinding({ kind: 'other_store', copy: time, recorded: manifest.store_id, found: storeId })
  }
  try {
    const database = await openDatabase(join(folder, DATABASE_NAME), manifest)
    const faults = database.faults()
    if (faults.length === 0) return database
    onFinding({ kind: 'damaged_database', copy: time, found: faults.join('; ') })
    database[Symbol.dispose]()
    return undefined
  } catch (error) {
    onFinding({ kind: 'damaged_database', copy: time, found: messageOf(error) })
    return undefined
  }
}

/** Rejects unless it is exactly the one that the manifest describes. */
export async function openDatabase(file: string, manifest: Manifest): Promise<DatabaseCopy> {
  const sha256 = await digestOfFile(file)
  if (sha256 !== manifest.database_sha256) throw new Error(`its SHA-256 is ${sha256}`)
  return new DatabaseCopy(file)
}

interface CheckContents extends CheckBackup {
  readonly copy: BackupCopy
  readonly database: DatabaseCopy
  /** What these name has been checked already. */
  readonly newer: readonly DatabaseCopy[]
  readonly store: ObjectStore
  readonly checked: CheckedBackup
}

async function checkContents(options: CheckContents): Promise<void> {
  const { copy, database, newer, checked, onFinding, onProgress, signal } = options
  const report = (finding: BackupFinding): void => onFinding({ ...finding, copy: copy.time })
  for (const content of database.contents()) {
    signal.throwIfAborted()
    if (newer.some((other) => other.naming(content.key) === 'content')) continue
    const finding = await findingOf(content, options)
    if (finding !== undefined) report({ ...finding, content })
    checked.objects += 1
    checked.objectBytes += content.size
    if (checked.objects % OBJECTS_PER_REPORT === 0) onProgress(checked)
  }
  const { lost_uploads: lost = [] } = (await readManifest(copy)) ?? {}
  for (const content of database.unfinished()) {
    signal.throwIfAborted()
    if (lost.includes(content.version)) continue
    const found = await sizeOfUpload(content, options)
    if (found < content.size) {
      report({ kind: 'broken_upload', content, recorded: content.size, found })
    }
  }
}

const OBJECTS_PER_REPORT = 100

async function findingOf(
  { key, size, sha256 }: NamedContent,
  { store, signal }: CheckContents,
): Promise<BackupFinding | undefined> {
  // The folder may be read only, which the check of a store that is served would refuse.
  const objects = { ...store, check: async () => undefined }
  const stored = await readStoredDigest({ objects, key, size, signal, onBytes: () => undefined })
  if (stored.sha256 === undefined) {
    if (stored.isUnreadable) return { kind: 'unreadable_object', recorded: size }
    if (stored.head === undefined) return { kind: 'missing_object', recorded: size }
    return { kind: 'wrong_size', recorded: size, found: stored.head.size }
  }
  if (stored.sha256 === sha256) return undefined
  return { kind: 'wrong_digest', recorded: sha256, found: stored.sha256 }
}

/** Bytes of an unfinished upload, or of its object if it was finished while the copy was made. */
async function sizeOfUpload(
  upload: UnfinishedContent,
  { directory }: CheckContents,
): Promise<number> {
  const { objects } = partsOf(directory)
  const sizes = [pieceOf(upload), upload.key].map(async (path) => {
    return (await orMissing(stat(join(objects, path))))?.size ?? 0
  })
  return Math.max(...(await Promise.all(sizes)))
}
