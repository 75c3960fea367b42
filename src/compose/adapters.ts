import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config, JwtConfig, ObjectStoreConfig } from '../config/config.ts'
import type { DatabaseConfig } from '../config/parsers.ts'
import type { IdentityProvider } from '../core/auth/jwt-users.ts'
import { AppError } from '../core/errors.ts'
import type { DownloadRedirect } from '../core/objects/download-urls.ts'
import type { ObjectStore } from '../core/objects/object-store.ts'
import type { FreeDisk } from '../core/overview/instance.ts'
import { createFreeSpace, type FreeSpace } from '../core/uploads/free-space.ts'
import {
  createLedgerSpace,
  type LedgerSpace,
  type MeasuredSpace,
} from '../core/uploads/ledger-space.ts'
import type { Database } from '../database/database.ts'
import { durabilityWarnings } from '../database/postgres/server-settings.ts'
import { createDiskReserve } from '../database/sqlite/disk-reserve.ts'
import { openSqlite } from '../database/sqlite/sqlite.ts'
import { assertRestored } from '../database/sqlite/unfinished-restore.ts'
import { ensureDirectory } from '../object-store/filesystem/durable-directories.ts'
import { measurePack } from '../object-store/filesystem/pack/pack-file.ts'
import { createFilesystemStore } from '../object-store/filesystem/store.ts'
import { measureDisk } from './reserve.ts'

/** Creates the directory of an embedded database, so that it survives a power cut. */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  if (config.kind === 'postgres') {
    const { openPostgres } = await import('../database/postgres/postgres.ts')
    return openPostgres(config)
  }
  const { file } = config
  const directory = dirname(file)
  assertRestored(file)
  // SQLite syncs this directory itself. Those above it are ours to open only if they were created here.
  await ensureDirectory(directory, directory).catch((cause: unknown) => {
    const detail = `The database folder ${directory} cannot be used. Set DATA_DIR or DATABASE_URL to another one.`
    throw new AppError('unavailable', detail, { cause })
  })
  return openSqlite({ file })
}

/** What the service cannot set for its sessions, but an operator should change on the server. */
export async function databaseWarnings(
  { kind }: DatabaseConfig,
  database: Database,
): Promise<readonly string[]> {
  return kind === 'postgres' ? durabilityWarnings(database) : []
}

export interface ObjectStoreOptions {
  /** In bytes. */
  readonly maxFileSize: number
  readonly warn: ((err: unknown, message: string) => void) | undefined
}

export async function openObjectStore(
  config: ObjectStoreConfig,
  { maxFileSize, warn }: ObjectStoreOptions,
): Promise<ObjectStore> {
  if (config.kind === 'file') return createFilesystemStore({ directory: config.directory })
  const { bucket, region, endpoint, forcePathStyle, credentials } = config
  const { createS3Store } = await import('../object-store/s3/store.ts')
  return createS3Store({
    bucket,
    region,
    endpoint,
    forcePathStyle,
    credentials,
    maxFileSize,
    warn,
  })
}

/** Settings of the object store that are probably unintended. */
export async function objectStoreWarnings(
  config: ObjectStoreConfig,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (config.kind === 'file') return []
  const { bucket, region, endpoint, forcePathStyle, credentials } = config
  const { bucketWarnings } = await import('../object-store/s3/bucket-warnings.ts')
  return bucketWarnings({ bucket, region, endpoint, forcePathStyle, credentials, signal })
}

/** `undefined`: the service sends all contents itself. */
export async function openRedirect(
  config: ObjectStoreConfig,
): Promise<DownloadRedirect | undefined> {
  if (config.kind === 'file' || config.redirect === undefined) return undefined
  const { bucket, region, forcePathStyle, credentials, redirect } = config
  const { aboveBytes, endpoint } = redirect
  const { createDownloadUrls } = await import('../object-store/s3/download-urls.ts')
  const urls = await createDownloadUrls({ bucket, region, endpoint, forcePathStyle, credentials })
  return { aboveBytes, urls }
}

/** Imported on demand, as are two others, to save memory (bench/NOTES.md, "Memory"). */
export async function openJwt(
  { jwksUrl, issuer, audience, userClaim, scopeClaim, createsUsers }: JwtConfig,
  warn: ((err: unknown, message: string) => void) | undefined,
): Promise<IdentityProvider> {
  const { createJwtVerifier } = await import('../jwt/jwt-verifier.ts')
  const claims = { jwksUrl, issuer, audience, userClaim, scopeClaim, warn }
  return { verifier: createJwtVerifier(claims), createsUsers }
}

/** `undefined` if a server stores the data: its disks are not visible. */
export function openLedgerSpace(
  { database, minFreeSpace }: Config,
  { measureFreePages }: Database,
  onReserveRelease: () => void,
): LedgerSpace | undefined {
  if (database.kind !== 'sqlite' || measureFreePages === undefined) return undefined
  const { file } = database
  const folder = dirname(file)
  const measure = async (): Promise<MeasuredSpace> => {
    const [{ bytes }, pages, log] = await Promise.all([
      measureDisk(folder),
      measureFreePages(),
      stat(`${file}-wal`).then(
        ({ size }) => size,
        () => 0,
      ),
    ])
    return { disk: bytes, pages, log }
  }
  return createLedgerSpace({
    minBytes: minFreeSpace,
    measure,
    reserve: createDiskReserve(file, onReserveRelease),
  })
}

/** Covers local disks only; those of servers are not visible. */
export function openFreeSpace(
  { database, objectStore, minFreeSpace }: Config,
  { measureFreePages }: Database,
  ledgerSpace: LedgerSpace | undefined,
): FreeSpace | undefined {
  const folders = [
    database.kind === 'sqlite' ? { path: dirname(database.file), holdsObjects: false } : [],
    objectStore.kind === 'file' ? { path: objectStore.directory, holdsObjects: true } : [],
  ].flat()
  const measurePages = async (folder: string): Promise<number> => {
    if (database.kind !== 'sqlite' || measureFreePages === undefined) return 0
    const [disk, ofDatabase] = await Promise.all([stat(folder), stat(dirname(database.file))])
    return disk.dev === ofDatabase.dev ? await measureFreePages() : 0
  }
  return createFreeSpace({
    folders,
    minBytes: minFreeSpace,
    measure: measureDisk,
    measurePages,
    isReserveInUse: ledgerSpace && (() => ledgerSpace.isReserveInUse()),
  })
}

/** What the local disks of the data have left. */
export async function measureFreeDisk({ database, objectStore }: Config): Promise<FreeDisk> {
  const folders = {
    database: database.kind === 'sqlite' ? dirname(database.file) : undefined,
    objects: objectStore.kind === 'file' ? objectStore.directory : undefined,
  }
  const bytesFree = async (folder: string | undefined): Promise<number | undefined> =>
    folder === undefined ? undefined : (await measureDisk(folder).catch(() => undefined))?.bytes
  return { database: await bytesFree(folders.database), objects: await bytesFree(folders.objects) }
}

/** Bytes of the pack of small objects, or `undefined` if the object store has none. */
export function openPackMeasure({ objectStore }: Config): (() => Promise<number>) | undefined {
  return objectStore.kind === 'file' ? () => measurePack(objectStore.directory) : undefined
}
