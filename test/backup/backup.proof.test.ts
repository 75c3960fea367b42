import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { streamOf } from '../support/objects.ts'
import { createS3Store, type S3StoreOptions } from '../../src/object-store/s3/store.ts'
import {
  createDatabase,
  type RunningPostgres,
  startInstalled,
} from '../support/servers/postgres.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { findPostgresProgram } from '../support/servers/postgres-program.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { runSql } from '../support/run-sql.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'
import { type BackupBed, backupSuite } from './backup-suite.ts'

const minio = inject('minio')
const tools = Promise.all([findPostgresProgram('pg_dump'), findPostgresProgram('pg_restore')])
const isWithoutTools = isSkipped(await whyMissing(tools))

/** Of the version of `pg_dump`, which dumps no server that is newer. */
let server: RunningPostgres | undefined

describe.skipIf(minio === undefined || isWithoutTools)('with real servers', () => {
  beforeAll(async () => {
    server = await startInstalled()
  })
  afterAll(() => server?.stop())
  backupSuite('PostgreSQL and MinIO', openProduction)
})

const run = promisify(execFile)

async function openProduction(opened: AsyncDisposableStack): Promise<BackupBed> {
  const [pgDump, pgRestore] = await tools
  const file = join(await temporaryFolder(opened), 'database.dump')
  const [live, restored] = [await newDatabase(opened), await newDatabase(opened)]
  const [bucket, copy] = [await newBucket(opened), await newBucket(opened)]
  return {
    environment: { DATABASE_URL: live, ...s3Settings(bucket) },
    backUpDatabase: async () => {
      await run(pgDump, ['--format=custom', `--file=${file}`, live])
    },
    backUpObjects: () => copyObjects(bucket, copy),
    restore: async (objects) => {
      await run(pgRestore, ['--no-owner', `--dbname=${restored}`, file])
      return { DATABASE_URL: restored, ...s3Settings(objects === 'backup' ? copy : bucket) }
    },
    letTimePass: async () => {
      await runSql(live, 'UPDATE garbage SET not_before = 0')
    },
  }
}

async function newDatabase(opened: AsyncDisposableStack): Promise<string> {
  const own = await createDatabase(server?.url ?? '')
  opened.defer(() => own.drop())
  return own.url
}

async function newBucket(opened: AsyncDisposableStack): Promise<S3StoreOptions> {
  const bucket = freshBucket(minio)
  const store = createS3Store(bucket)
  await store.prepare(AbortSignal.timeout(10_000))
  await store.close()
  opened.defer(() => removeBucket(bucket))
  return bucket
}

/** What `mc mirror` and `rclone copy` do: objects that are listed, with their metadata. */
async function copyObjects(from: S3StoreOptions, to: S3StoreOptions): Promise<void> {
  const [source, target] = [createS3Store(from), createS3Store(to)]
  const signal = AbortSignal.timeout(60_000)
  const identity = await source.readIdentity(signal)
  if (identity !== undefined) await target.createIdentity(identity, signal)
  for await (const { key } of source.list({ prefix: 'users/', signal })) {
    const head = await source.head({ key, signal })
    const object = await source.open({ key, signal })
    if (object === undefined || head === undefined) continue
    await target.put({ key, body: streamOf(object), metadata: head.metadata, signal })
  }
  await Promise.all([source.close(), target.close()])
}
