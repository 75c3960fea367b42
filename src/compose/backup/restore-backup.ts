import { rmSync } from 'node:fs'
import { copyFile, link, lstat, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/config.ts'
import {
  type BackupCopy,
  DATABASE_NAME,
  listCopies,
  partsOf,
  readManifest,
} from '../../core/backup/backup-folder.ts'
import type { BackupFinding } from '../../core/backup/finding.ts'
import type { EmbeddedPlaces } from '../../core/backup/placement.ts'
import type { CopiedContents, RestoredBackup } from '../../core/backup/results.ts'
import { invalidParameter } from '../../core/errors.ts'
import { releaseFinished } from '../../core/resumable/release-finished.ts'
import { synchronise } from '../../database/sqlite/backup.ts'
import type { DatabaseCopy } from '../../database/sqlite/database-copy.ts'
import { tryExclusiveLock } from '../../database/sqlite/exclusive-lock.ts'
import { unfinishedRestoreOf } from '../../database/sqlite/unfinished-restore.ts'
import { ensureDirectory } from '../../object-store/filesystem/durable-directories.ts'
import { createIdentity } from '../../object-store/filesystem/identity.ts'
import { orMissing } from '../../object-store/filesystem/or-missing.ts'
import { removeUnnamed } from '../../object-store/filesystem/remove-unnamed.ts'
import { namesIn } from './backup-places.ts'
import { openDatabase } from './check-backup.ts'
import { copyObjects } from './copy-contents.ts'

export interface RestoreBackup {
  readonly config: Config
  readonly places: EmbeddedPlaces
  readonly directory: string
  /** The name of the copy; the newest one by default. */
  readonly time: string | undefined
  readonly onFinding: (finding: BackupFinding) => void
  readonly onProgress: (copied: CopiedContents) => void
  readonly signal: AbortSignal
}

/**
 * Guarantees, once resolved, that a service can start on what the copy holds. Refuses, without changes, a database or
 * files that exist. No service starts before the call has ended; a call that was interrupted is finished by the next one.
 */
export async function restoreBackup(options: RestoreBackup): Promise<RestoredBackup> {
  const { places, directory, signal, onFinding, onProgress } = options
  const copy = await findCopy(directory, options.time)
  const manifest = await readManifest(copy)
  if (manifest === undefined) {
    throw new Error(`The manifest of the copy ${copy.time} is damaged. Choose another with --copy.`)
  }
  const { database: file, objects } = places
  const temporary = unfinishedRestoreOf(file)
  const { files, versions, bytes } = manifest
  const result = { copy: copy.time, database: file, files, versions, bytes, released: 0 }
  if (await endLinked(file)) return result
  await assertEmpty(places)
  using database = await openDatabase(join(copy.folder, DATABASE_NAME), manifest).catch(
    (cause: unknown) => {
      throw new Error(`The database of the copy ${copy.time} is damaged.`, { cause })
    },
  )
  await ensureDirectory(dirname(file), places.dataDir)
  using _ = lock(places)
  // Another restore may have ended meanwhile.
  await assertAbsent(file)
  await begin(temporary)
  await ensureDirectory(join(objects, 'users'), places.dataDir)
  await createIdentity(objects, manifest.store_id)
  await copyObjects({
    copy: database,
    from: partsOf(directory).objects,
    to: objects,
    copied: { objects: 0, objectBytes: 0 },
    isResumed: true,
    // A backup removes nothing that a copy names.
    isCurrent: async () => true,
    onFinding,
    onProgress,
    signal,
  })
  await removeOthers(database, { objects, signal })
  await copyFile(join(copy.folder, DATABASE_NAME), temporary)
  const released = await release(options, temporary)
  await putInPlace(temporary, file)
  return { ...result, released }
}

async function findCopy(directory: string, time: string | undefined): Promise<BackupCopy> {
  const copies = await listCopies(directory)
  const found = time === undefined ? copies[0] : copies.find((copy) => copy.time === time)
  if (found !== undefined) return found
  if (copies.length === 0) throw new Error(`${directory} has no complete copy.`)
  const times = copies.map((copy) => copy.time).join(', ')
  throw invalidParameter('copy', `There is no copy ${time}. The complete copies are ${times}.`)
}

/** Refuses what exists, unless an interrupted restore has left it. */
async function assertEmpty({ dataDir, database, objects }: EmbeddedPlaces): Promise<void> {
  await assertAbsent(database)
  if ((await orMissing(lstat(unfinishedRestoreOf(database)))) !== undefined) return
  for (const folder of [dataDir, objects]) {
    if ((await namesIn(folder)).length > 0) throw new Error(`${folder} ${NOT_EMPTY}`)
  }
}

async function assertAbsent(database: string): Promise<void> {
  for (const path of ['', '-wal', '-shm'].map((end) => database + end)) {
    if ((await orMissing(lstat(path))) !== undefined) throw new Error(`${path} ${HINT}`)
  }
}

const HINT = 'already exists. A restore never replaces a database. Move the file away first.'

const NOT_EMPTY = 'is not empty. A restore never replaces files. Move the folder away first.'

/** Of two restores at once, each would remove what the other one has copied. */
function lock({ database }: EmbeddedPlaces): Disposable {
  // Hidden, so that one that a killed restore leaves keeps the folder empty (`namesIn`).
  const file = join(dirname(database), '.restore-lock')
  const locked = tryExclusiveLock(file)
  if (locked === undefined) throw new Error(`Another restore to ${database} is running.`)
  return {
    [Symbol.dispose]() {
      rmSync(file, { force: true })
      locked[Symbol.dispose]()
    },
  }
}

async function begin(temporary: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(temporary + end, { force: true })
  await (await open(temporary, 'w', 0o600)).close()
  await synchronise(dirname(temporary))
}

/** What an interrupted restore of another copy has left. */
async function removeOthers(
  database: DatabaseCopy,
  { objects, signal }: { readonly objects: string; readonly signal: AbortSignal },
): Promise<void> {
  await removeUnnamed({
    directory: objects,
    isNamed: (key) => database.naming(key) !== undefined,
    isUnfinished: (key) => database.naming(key) === 'upload',
    signal,
  })
}

/** As `uploads release --finished`, on a database that nobody else uses. */
async function release({ config, signal }: RestoreBackup, file: string): Promise<number> {
  const { openService } = await import('../compose.ts')
  const database = { kind: 'sqlite', file } as const
  const service = await openService({ ...config, database, jwt: undefined, webhooks: undefined })
  try {
    const { ledger, objects } = service
    await ledger.endLeases()
    const onReleased = (): void => undefined
    return (await releaseFinished({ ledger, objects, onReleased, signal })).released
  } finally {
    await service.close()
  }
}

async function putInPlace(temporary: string, file: string): Promise<void> {
  const log = await orMissing(lstat(`${temporary}-wal`))
  if (log !== undefined && log.size > 0) throw new Error(`${temporary}-wal was not emptied.`)
  await synchronise(temporary)
  // Unlike a rename, it replaces nothing, not even a file created meanwhile.
  await link(temporary, file)
  await synchronise(dirname(file))
  await endLinked(file)
}

/** Ends a restore whose database is in place. Resolves to whether there was one. */
async function endLinked(file: string): Promise<boolean> {
  const temporary = unfinishedRestoreOf(file)
  const [inPlace, made] = await Promise.all([orMissing(lstat(file)), orMissing(lstat(temporary))])
  if (made === undefined || inPlace?.ino !== made.ino || inPlace.dev !== made.dev) return false
  for (const end of ['', '-wal', '-shm', '-instances', '-reserve']) {
    await rm(temporary + end, { force: true })
  }
  await synchronise(dirname(file))
  return true
}
