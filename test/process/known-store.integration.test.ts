import { HeadBucketCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openService } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { diagnose } from '../../src/doctor.ts'
import { createS3Client } from '../../src/object-store/s3/sdk-client.ts'
import { createS3Store } from '../../src/object-store/s3/store.ts'
import { never } from '../support/objects.ts'
import { createDatabase } from '../support/servers/postgres.ts'
import type { S3Address } from '../support/servers/s3-server.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'

let opened: AsyncDisposableStack
let DATA_DIR: string

beforeEach(async () => {
  opened = new AsyncDisposableStack()
  DATA_DIR = await temporaryFolder(opened)
})
afterEach(() => opened.disposeAsync())

/** Starts and closes a service, and resolves to the identity of its bucket. */
async function startOn(
  bucket: ReturnType<typeof freshBucket>,
  settings: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const service = await openService(readConfig({ DATA_DIR, ...s3Settings(bucket), ...settings }))
  await service.close()
  return await identityOf(bucket)
}

async function identityOf(bucket: ReturnType<typeof freshBucket>): Promise<string | undefined> {
  const store = createS3Store(bucket)
  const identity = await store.readIdentity(never())
  await store.close()
  return identity
}

function knownStoreSuite(name: string, address: S3Address | undefined): void {
  describe.skipIf(address === undefined)(`E23 a bucket on ${name}`, () => {
    it('a bucket with a wrong name refuses a start, and is not created', async () => {
      const bucket = freshBucket(address)
      opened.defer(() => removeBucket(bucket))
      const identity = await startOn(bucket)
      expect(identity).toMatch(/^[0-9a-f-]{36}$/)
      const mistyped = freshBucket(address)
      await expect(startOn(mistyped)).rejects.toThrow(
        `it has no identity instead of ${identity}. Correct OBJECT_STORE, which names the bucket ${mistyped.bucket}, `,
      )
      const found = await diagnose({ DATA_DIR, ...s3Settings(mistyped) })
      expect(found.find(({ check }) => check === 'object store')).toMatchObject({
        result: 'failed',
        detail: expect.stringContaining('no identity instead of') as string,
      })
      const client = createS3Client(mistyped)
      opened.defer(() => client.destroy())
      await expect(
        client.send(new HeadBucketCommand({ Bucket: mistyped.bucket })),
      ).rejects.toMatchObject({ name: 'NotFound' })
      expect(await startOn(bucket)).toBe(identity)
    })

    it('a bucket of another database refuses a start, and keeps its identity', async () => {
      const [bucket, other] = [freshBucket(address), freshBucket(address)]
      for (const each of [bucket, other]) opened.defer(() => removeBucket(each))
      await startOn(bucket)
      const identity = await startOn(other, { DATA_DIR: await temporaryFolder(opened) })
      await expect(startOn(other)).rejects.toThrow(`it has the identity ${identity} instead of`)
      expect(await identityOf(other)).toBe(identity)
    })

    it('is taken as it is by a new database', async () => {
      const bucket = freshBucket(address)
      opened.defer(() => removeBucket(bucket))
      const identity = await startOn(bucket)
      expect(await startOn(bucket, { DATA_DIR: await temporaryFolder(opened) })).toBe(identity)
    })
  })
}

knownStoreSuite('MinIO', inject('minio'))
knownStoreSuite('versitygw', inject('versitygw'))

const minio = inject('minio')
const postgres = inject('postgres')

describe.skipIf(minio === undefined || postgres === undefined)(
  'instances that start at once',
  () => {
    it('instances that start for the first time agree on one identity, also with those of other databases', async () => {
      const bucket = freshBucket(minio)
      opened.defer(() => removeBucket(bucket))
      const urls: string[] = []
      for (let databases = 0; databases < 3; databases++) {
        const own = await createDatabase(postgres ?? '')
        opened.defer(() => own.drop())
        urls.push(own.url, own.url)
      }
      const startAll = () =>
        Promise.all(urls.map((DATABASE_URL) => startOn(bucket, { DATABASE_URL })))
      const identities = new Set([...(await startAll()), ...(await startAll())])
      expect(identities.size).toBe(1)
    })
  },
)
