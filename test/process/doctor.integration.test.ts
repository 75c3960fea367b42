import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectLockConfigurationCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { diagnose } from '../../src/doctor.ts'
import { createS3Client } from '../../src/object-store/s3/sdk-client.ts'
import { runSql } from '../support/run-sql.ts'
import { createDatabase } from '../support/servers/postgres.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { publicEndpoint, redirectSettings } from '../support/service/s3-service.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('the doctor, for a user of PostgreSQL', () => {
  const opened = new AsyncDisposableStack()
  const role = `role_${randomBytes(8).toString('hex')}`
  let url: string
  let DATA_DIR: string

  beforeAll(async () => {
    const own = await createDatabase(server ?? '')
    opened.defer(async () => {
      await own.drop()
      await runSql(server ?? '', `DROP ROLE ${role}`)
    })
    await runSql(own.url, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    await runSql(own.url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    url = own.url
    DATA_DIR = await temporaryFolder(opened)
  })

  afterAll(() => opened.disposeAsync())

  async function examineDatabase() {
    const as = new URL(url)
    as.username = role
    as.password = 'secret'
    const found = await diagnose({ DATA_DIR, DATABASE_URL: as.href })
    return found.find(({ check }) => check === 'database')
  }

  it('reports that it may not create tables', async () => {
    expect(await examineDatabase()).toMatchObject({
      result: 'failed',
      detail: expect.stringContaining('may not create tables') as string,
    })
  })

  it('is content if it may', async () => {
    await runSql(url, `GRANT CREATE ON SCHEMA public TO ${role}`)
    expect(await examineDatabase()).toMatchObject({ result: 'ok' })
  })
})

const minio = inject('minio')

describe.skipIf(minio === undefined)('the doctor, for downloads that are redirected to S3', () => {
  const opened = new AsyncDisposableStack()
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    const bucket = freshBucket(minio)
    opened.defer(() => removeBucket(bucket))
    const DATA_DIR = await temporaryFolder(opened)
    environment = { DATA_DIR, ...s3Settings(bucket), ...redirectSettings(minio, { aboveBytes: 1 }) }
  })
  afterAll(() => opened.disposeAsync())

  async function examine(settings: Readonly<Record<string, string>> = {}) {
    const found = await diagnose({ ...environment, ...settings })
    expect(found.find(({ check }) => check === 'object store')).toMatchObject({ result: 'ok' })
    return found.find(({ check }) => check === 'download redirect')
  }

  it('downloads an object at S3_PUBLIC_ENDPOINT', async () => {
    const { hostname } = new URL(publicEndpoint(minio) ?? '')
    const detail = `read an object from ${hostname}, past the service`
    expect(await examine()).toMatchObject({ result: 'ok', detail })
    expect(await examine({ DOWNLOAD_REDIRECT_ABOVE: '' })).toBeUndefined()
  })

  it('reports that nothing answers there, or another server', async () => {
    const stranger = createServer((_, response) => response.writeHead(404).end('nobody'))
    stranger.listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const { port } = stranger.address() as AddressInfo
    const S3_PUBLIC_ENDPOINT = `http://127.0.0.1:${port}`
    expect(await examine({ S3_PUBLIC_ENDPOINT })).toMatchObject({
      result: 'failed',
      detail: expect.stringMatching(
        /^It answers with 404\. Check that S3_PUBLIC_ENDPOINT /,
      ) as string,
    })
    stranger.close()
    await once(stranger, 'close')
    expect(await examine({ S3_PUBLIC_ENDPOINT })).toMatchObject({ result: 'failed' })
  })
})

describe.skipIf(minio === undefined)('the doctor, for a bucket that keeps what is deleted', () => {
  const opened = new AsyncDisposableStack()
  let settings: ReturnType<typeof freshBucket>
  let client: ReturnType<typeof createS3Client>
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    settings = freshBucket(minio)
    client = createS3Client(settings)
    opened.defer(() => removeVersions(client, settings.bucket))
    const DATA_DIR = await temporaryFolder(opened)
    environment = { DATA_DIR, ...s3Settings(settings) }
    await client.send(
      new CreateBucketCommand({ Bucket: settings.bucket, ObjectLockEnabledForBucket: true }),
    )
  })
  afterAll(() => opened.disposeAsync())

  async function examine() {
    const found = await diagnose(environment)
    return found.find(({ check }) => check === 'object store')
  }
  const plain = () => `wrote, read and deleted an object in the bucket ${settings.bucket}`

  it('warns unless a rule expires what is not current', async () => {
    const warned = await examine()
    expect(warned).toMatchObject({ result: 'ok' })
    expect(warned?.detail).toMatch(/, with warnings: the bucket keeps versions, .*versions$/)
    const Rules = [
      {
        ID: 'expire',
        Status: 'Enabled' as const,
        Filter: { Prefix: '' },
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
      },
    ]
    await client.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: settings.bucket,
        LifecycleConfiguration: { Rules },
      }),
    )
    expect(await examine()).toMatchObject({ result: 'ok', detail: plain() })
  })

  it('warns of locks', async () => {
    await client.send(
      new PutObjectLockConfigurationCommand({
        Bucket: settings.bucket,
        ObjectLockConfiguration: {
          ObjectLockEnabled: 'Enabled',
          Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } },
        },
      }),
    )
    expect((await examine())?.detail).toContain('with warnings: the bucket locks objects')
  })
})

/** Also of locked objects. */
async function removeVersions(
  client: ReturnType<typeof createS3Client>,
  Bucket: string,
): Promise<void> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket }),
  )
  for (const { Key, VersionId } of [...Versions, ...DeleteMarkers]) {
    const BypassGovernanceRetention = true
    await client.send(
      new DeleteObjectCommand({ Bucket, Key, VersionId, BypassGovernanceRetention }),
    )
  }
  await client.send(new DeleteBucketCommand({ Bucket }))
  client.destroy()
}
