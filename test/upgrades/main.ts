import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { findS3Server } from '../support/servers/s3-server.ts'
import { S3_SERVERS } from '../support/servers/s3-servers.ts'
import { createDatabase, startInstalled } from '../support/servers/postgres.ts'
import { runSql } from '../support/run-sql.ts'
import { runMain } from '../support/service/run-main.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { type DataSet, folderOf } from './data-set.ts'
import { dumpPostgres } from './postgres-dump.ts'
import { copyBucket } from './s3-copy.ts'
import { serve } from './service.ts'
import { dumpSqlite } from './sqlite-dump.ts'
import { fill, record } from './story.ts'

/** After the tests of all later versions. */
const LATER = Date.UTC(2100, 0)

const USAGE = `usage: npm run snapshot -- VERSION
  stores data of this code in test/upgrades/VERSION/, from which the tests upgrade; needs MinIO, and PostgreSQL with
  pg_dump. npm version calls it.`

await runMain(USAGE, async ([version, ...others]) => {
  if (version === undefined || others.length > 0 || !/^\d+\.\d+\.\d+$/.test(version)) {
    console.error(USAGE)
    return 2
  }
  await Promise.all([
    snapshotEmbedded(folderOf(version, 'embedded')),
    snapshotProduction(folderOf(version, 'production')),
  ])
  return 0
})

async function snapshotEmbedded(folder: string): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const data = await createFolder('snapshot')
  opened.defer(() => data.remove())
  const file = join(data.path, 'database.sqlite')
  const set = await tell({ DATA_DIR: data.path }, async (statement) => {
    using database = new DatabaseSync(file)
    database.exec(statement)
  })
  await store(folder, set, dumpSqlite(file))
  const archive = join(folder, 'objects.tar.gz')
  await promisify(execFile)('tar', ['-czf', archive, '-C', data.path, 'objects'])
}

async function snapshotProduction(folder: string): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const server = await startInstalled()
  opened.defer(() => server.stop())
  const database = await createDatabase(server.url)
  opened.defer(() => database.drop())
  const minio = await findS3Server(S3_SERVERS.minio)
  if ('unavailable' in minio) throw new Error(minio.unavailable)
  opened.defer(() => minio.stop())
  const bucket = freshBucket(minio.address)
  const environment = { DATABASE_URL: database.url, ...s3Settings(bucket) }
  const set = await tell(environment, (statement) => runSql(database.url, statement))
  opened.defer(() => removeBucket(bucket))
  await store(folder, set, await dumpPostgres(database.url))
  await writeFile(join(folder, 'objects.json.gz'), await copyBucket(bucket))
}

async function tell(
  environment: Readonly<Record<string, string>>,
  run: (statement: string) => Promise<unknown>,
): Promise<DataSet> {
  const listening = await serve(environment)
  try {
    const { reads, ...story } = await fill(listening)
    // So that they can resume the upload.
    await run(`UPDATE uploads SET lease_until = ${LATER} WHERE state = 'pending'`)
    await run(`UPDATE resumable_uploads SET ends_at = ${LATER} WHERE ended_as IS NULL`)
    // A `Last-Modified` that is ahead of the clock is told as the time of the answer.
    await setTimeout(3_000)
    return { ...story, exchanges: await record(listening, reads) }
  } finally {
    await listening.service.stop()
  }
}

async function store(folder: string, set: DataSet, dump: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'database.sql'), dump)
  await writeFile(join(folder, 'record.json'), `${JSON.stringify(set, null, 1)}\n`)
}
