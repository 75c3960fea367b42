import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readVersion } from '../build-info.ts'
import { type Copies, NotEmbedded } from '../cli/command.ts'
import { type Config, readConfig, readS3Settings } from '../config/config.ts'
import type { Environment } from '../config/reader.ts'
import type { EmbeddedPlaces } from '../core/backup/placement.ts'
import { AppError } from '../core/errors.ts'
import { ensureDirectory } from '../object-store/filesystem/durable-directories.ts'

export function createCopies(environment: Environment): Copies {
  async function copyDatabase(file: string): Promise<void> {
    const { database } = readConfig(environment)
    if (database.kind !== 'sqlite') throw new NotEmbedded(USE_PG_DUMP)
    const { openDatabase } = await import('./adapters.ts')
    const { backUp } = await import('../database/sqlite/backup.ts')
    const opened = await openDatabase(database)
    try {
      await backUp(opened, file)
    } finally {
      await opened.close()
    }
  }

  return {
    async backUp({ directory, keep, onFinding, onProgress, signal }) {
      const config = readConfig(environment)
      const places = embeddedPlacesOf(config)
      const { runBackup } = await import('./backup/run-backup.ts')
      return await runBackup({
        places,
        directory: resolve(directory),
        keep: keep ?? config.backups.keep,
        version: await readVersion(),
        onFinding,
        onProgress,
        signal,
      })
    },
    async check({ directory, onFinding, onProgress, onWait, signal }) {
      const { checkBackup } = await import('./backup/check-backup.ts')
      const { readInTurn } = await import('./backup/folder-in-use.ts')
      const folder = resolve(directory)
      return await readInTurn(folder, { onWait, signal }, () =>
        checkBackup({ directory: folder, onFinding, onProgress, signal }),
      )
    },
    async restoreFrom({ directory, time, onFinding, onProgress, onWait, signal }) {
      const config = readConfig(environment)
      const places = embeddedPlacesOf(config)
      const { restoreBackup } = await import('./backup/restore-backup.ts')
      const { readInTurn } = await import('./backup/folder-in-use.ts')
      const folder = resolve(directory)
      return await readInTurn(folder, { onWait, signal }, () =>
        restoreBackup({ config, places, directory: folder, time, onFinding, onProgress, signal }),
      )
    },
    async send({ copyTo = copyDatabase, target, onProgress, signal }) {
      const { bucket, key } = parseS3Address(target)
      const { dataDir } = readConfig(environment)
      const client = readS3Settings(environment)
      const { uploadCopy } = await import('../object-store/s3/database-copy.ts')
      await ensureDirectory(dataDir, dataDir)
      const file = join(dataDir, `backup-${randomUUID()}.sqlite`)
      try {
        await copyTo(file)
        return await uploadCopy({ bucket, key, client, file, onProgress, signal })
      } finally {
        await rm(file, { force: true })
      }
    },
    async restore({ source, onProgress, signal }) {
      const { bucket, key } = parseS3Address(source)
      const { database } = readConfig(environment)
      const client = readS3Settings(environment)
      if (database.kind !== 'sqlite') throw new NotEmbedded(USE_PG_DUMP)
      const { restore } = await import('../database/sqlite/restore.ts')
      const { downloadCopy } = await import('../object-store/s3/database-copy.ts')
      const directory = dirname(database.file)
      await ensureDirectory(directory, directory)
      const fetch = (file: string): Promise<void> =>
        downloadCopy({ bucket, key, client, file, onProgress, signal })
      const { bytes } = await restore({ file: database.file, fetch })
      return { database: database.file, bytes }
    },
    async pack(options) {
      const { copyPack } = await import('../object-store/filesystem/pack/copy-pack.ts')
      return await copyPack(options)
    },
  }
}

/** Throws `NotEmbedded`, which says what to use instead, unless the database is embedded and the objects are files. */
export function embeddedPlacesOf({ dataDir, database, objectStore }: Config): EmbeddedPlaces {
  if (database.kind !== 'sqlite') throw new NotEmbedded(`${USE_PG_DUMP} ${SEE}`)
  if (objectStore.kind !== 'file') throw new NotEmbedded(`${USE_S3_TOOLS} ${SEE}`)
  return { dataDir, database: database.file, objects: objectStore.directory }
}

const USE_PG_DUMP =
  'The database is PostgreSQL: use pg_dump and pg_restore for it, and copy the objects after it.'

const USE_S3_TOOLS =
  'The objects are in S3: use "cloud-repo backup s3://bucket/key" and "restore s3://bucket/key" for the database, and ' +
  'mc mirror or rclone for the objects after it.'

const SEE = 'docs/backup.md, "With PostgreSQL or S3", has the commands.'

/** S3's limit ("Naming Amazon S3 objects" in the S3 guide). */
const MAX_KEY_BYTES = 1024

const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([^/].*)$/s

function parseS3Address(text: string): { readonly bucket: string; readonly key: string } {
  const [, bucket, key] = ADDRESS.exec(text) ?? []
  const isKey = key !== undefined && !key.endsWith('/') && Buffer.byteLength(key) <= MAX_KEY_BYTES
  if (bucket !== undefined && isKey) return { bucket, key }
  throw new AppError(
    'invalid_parameter',
    'The address of a copy must be s3://bucket/key, such as s3://backups/2026-11-23.sqlite.',
  )
}
