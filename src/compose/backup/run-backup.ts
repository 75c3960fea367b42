import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  copyTimeOf,
  DATABASE_NAME,
  listCopies,
  MANIFEST_NAME,
  partsOf,
  timeOfCopy,
} from '../../core/backup/backup-folder.ts'
import type { BackupFinding } from '../../core/backup/finding.ts'
import { formatManifest } from '../../core/backup/manifest.ts'
import type { EmbeddedPlaces } from '../../core/backup/placement.ts'
import type { BackupResult, CopiedContents } from '../../core/backup/results.ts'
import { copyInRounds } from '../../core/backup/rounds.ts'
import { digestOfFile } from '../../core/digest-of-file.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import type { Inventory } from '../../core/verify/inventory.ts'
import { assertMigrated } from '../../database/migrate.ts'
import { synchronise } from '../../database/sqlite/backup.ts'
import { DatabaseCopy } from '../../database/sqlite/database-copy.ts'
import { tryExclusiveLock } from '../../database/sqlite/exclusive-lock.ts'
import { openSqlite } from '../../database/sqlite/sqlite.ts'
import { createInventory } from '../../database/verify/inventory.ts'
import {
  ensureDirectory,
  syncDirectory,
} from '../../object-store/filesystem/durable-directories.ts'
import { createIdentity, readIdentity } from '../../object-store/filesystem/identity.ts'
import { PACK_NAME } from '../../object-store/filesystem/pack/pack-file.ts'
import { sealPack } from '../../object-store/filesystem/pack/pack-seal.ts'
import { openBackupFolder } from './backup-places.ts'
import { copyObjects } from './copy-contents.ts'
import { removeOldCopies } from './remove-old-copies.ts'

export interface RunBackup {
  readonly places: EmbeddedPlaces
  readonly directory: string
  /** How many complete copies stay. */
  readonly keep: number
  /** Of the service. */
  readonly version: string
  readonly onFinding: (finding: BackupFinding) => void
  readonly onProgress: (copied: CopiedContents) => void
  readonly signal: AbortSignal
}

/** Another run is using the folder. */
export class BackupRunning extends Error {}

/**
 * Guarantees, once resolved, that the folder has one more complete, durable copy: of the database as of one moment during
 * the call, and of all objects that it names. The service can run meanwhile. Copies only objects that the folder lacks. A
 * call that fails or is killed harms no complete copy. Rejects with `BackupRunning` beside another call.
 */
export async function runBackup(options: RunBackup): Promise<BackupResult> {
  const { places, directory, keep, onFinding, signal } = options
  if (!existsSync(places.database)) throw new Error(`There is no database ${places.database}.`)
  await openBackupFolder(directory, places)
  const { lock, unfinished, objects } = partsOf(directory)
  using locked = tryExclusiveLock(lock)
  if (locked === undefined) {
    throw new BackupRunning(`Another backup to ${directory} is running.`)
  }
  const isResumed = existsSync(unfinished)
  await ensureDirectory(unfinished, directory)
  const snapshot = await copyAll(options, { isResumed })
  const copy = await complete(options, snapshot)
  const removed = await removeOldCopies({ directory, keep, onFinding, signal })
  await sealPack(join(objects, PACK_NAME))
  await rm(unfinished, { recursive: true })
  const { copied, contents } = snapshot
  return { copy, ...copied, ...contents, ...removed }
}

interface Snapshot extends Awaited<ReturnType<typeof copyObjects>> {
  /** When the database was copied: milliseconds since 1970. */
  readonly at: number
  readonly storeId: string
  readonly findings: number
}

/** Copies the database first, then its objects; again if some of them were removed meanwhile. */
async function copyAll(
  { places, directory, onFinding, onProgress, signal }: RunBackup,
  { isResumed }: { readonly isResumed: boolean },
): Promise<Snapshot> {
  const { newCopy, objects } = partsOf(directory)
  await using database = await openSource(places.database)
  const copied = { objects: 0, objectBytes: 0 }
  const file = join(newCopy, DATABASE_NAME)
  return await copyInRounds(async () => {
    await rm(newCopy, { recursive: true, force: true })
    await mkdir(newCopy, { mode: 0o700 })
    const at = Date.now()
    // Its temporary file would stay if the process were killed.
    await (await open(file, 'wx', 0o600)).close()
    await database.copyTo(file)
    using copy = new DatabaseCopy(file)
    const storeId = await assertStore(copy, { source: places.objects, target: objects })
    let findings = 0
    const done = await copyObjects({
      copy,
      from: places.objects,
      to: objects,
      copied,
      isResumed,
      isCurrent: (content) => database.isCurrent(content),
      onFinding(finding) {
        findings += 1
        onFinding(finding)
      },
      onProgress,
      signal,
    })
    return { ...done, at, storeId, findings }
  })
}

interface Source extends AsyncDisposable {
  /** Writes a consistent copy to an empty file. */
  readonly copyTo: (file: string) => Promise<void>
  readonly isCurrent: Inventory['isCurrent']
}

async function openSource(file: string): Promise<Source> {
  const database = await openSqlite({ file })
  const { copyTo } = database
  if (copyTo === undefined) throw new TypeError('SQLite can be copied.')
  try {
    await assertMigrated(database)
  } catch (error) {
    await database.close()
    throw error
  }
  const inventory = createInventory(database)
  return {
    copyTo,
    isCurrent: (content) => inventory.isCurrent(content),
    [Symbol.asyncDispose]: () => database.close(),
  }
}

/** Returns the identity of the store. A folder that is not mounted would be an empty one. */
async function assertStore(
  copy: DatabaseCopy,
  { source, target }: { readonly source: string; readonly target: string },
): Promise<string> {
  if (copy.isRebuilding)
    throw new Error('A rebuild of the database is unfinished. Finish it first.')
  const known = copy.storeId
  if (known === undefined || known !== (await readIdentity(source))) {
    throw new Error(`${source} is not the object store that the database knows.`)
  }
  if ((await createIdentity(target, known)) === known) return known
  throw new Error('The folder has backups of another object store. Choose another folder.')
}

/** Resolves to the name of the copy, which the last rename makes complete. */
async function complete(
  { directory, version }: RunBackup,
  { at, storeId, contents, findings, lostUploads }: Snapshot,
): Promise<string> {
  const { newCopy, copies } = partsOf(directory)
  const database = join(newCopy, DATABASE_NAME)
  const manifest = {
    version,
    completed_at: formatTimestamp(Date.now()),
    store_id: storeId,
    database_sha256: await digestOfFile(database),
    ...contents,
    findings,
    lost_uploads: lostUploads,
  }
  await synchronise(database)
  const options = { flag: 'wx', mode: 0o600, flush: true }
  await writeFile(join(newCopy, MANIFEST_NAME), formatManifest(manifest), options)
  await syncDirectory(newCopy)
  const [newest] = await listCopies(directory)
  // Even if the clock has been set back, the newest copy is the last one.
  const copy = copyTimeOf(newest === undefined ? at : Math.max(at, timeOfCopy(newest) + 1))
  await rename(newCopy, join(copies, copy))
  await syncDirectory(copies)
  return copy
}
