import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Copies } from '../cli/command.ts'
import { readConfig, readS3Settings } from '../config/config.ts'
import { AppError } from '../core/errors.ts'
import { ensureDirectory } from '../object-store/filesystem/durable-directories.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function createCopies(environment: Environment): Copies {
  return {
    async send({ copyTo, target, onProgress, signal }) {
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
      if (database.kind !== 'sqlite')
        throw new Error('Restore a PostgreSQL database with pg_restore.')
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
