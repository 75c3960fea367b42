import { randomUUID } from 'node:crypto'
import { DeleteBucketCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { describe, expect, inject, it } from 'vitest'
import { createS3Client } from '../../src/object-store/s3-client.ts'
import { createS3Store } from '../../src/object-store/s3.ts'
import {
  objectStoreContract,
  PART_SIZE,
  type StoreUnderTest,
} from '../core/object-store-contract.ts'
import { freshKey, never, put, read } from '../support/objects.ts'
import type { MinioAddress } from '../support/services.ts'

const minio = inject('minio')

describe.skipIf(minio === undefined)('S3, on a real server,', () => {
  objectStoreContract('the S3 store', () => createSubject())

  it('has as many objects as it is asked to list, page after page', async () => {
    const subject = await createSubject()
    const { store } = subject
    const keys = Array.from({ length: 1100 }, () => freshKey('pages'))
    for (let at = 0; at < keys.length; at += 50) {
      const content = Buffer.from('x')
      await Promise.all(keys.slice(at, at + 50).map((key) => put(store, { key, content })))
    }
    const listed = new Set<string>()
    for await (const { key } of store.list({ prefix: 'users/pages/', signal: never() })) {
      listed.add(key)
    }
    expect(listed).toEqual(new Set(keys))
    await subject.dispose()
  })

  it('works with the checksums of the SDK', async () => {
    const subject = await createSubject({ checksums: 'WHEN_SUPPORTED' })
    const key = freshKey()
    await put(subject.store, { key, content: Buffer.alloc(2 * PART_SIZE + 1) })
    const found = await read(subject.store, key)
    expect(found?.size).toBe(2 * PART_SIZE + 1)
    await subject.dispose()
  })

  it('says that a missing bucket is no missing object (E15)', async () => {
    const store = createS3Store({ ...settings(), bucket: `test-${randomUUID()}` })
    const named = { key: freshKey(), signal: never() }
    await expect(store.open(named)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.head(named)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(put(store, named)).rejects.toMatchObject({ code: 'unavailable' })
    await store.close()
  })

  it('is not ready with wrong credentials (E15)', async () => {
    const credentials = { accessKeyId: 'nobody', secretAccessKey: 'wrong-secret' }
    const store = createS3Store({ ...settings(), credentials, bucket: `test-${randomUUID()}` })
    await expect(store.prepare(never())).rejects.toMatchObject({ code: 'unavailable' })
    await store.close()
  })
})

/** A store on a bucket of its own, with so few sockets that a leak of them is soon felt. */
async function createSubject(
  options: { readonly checksums?: 'WHEN_SUPPORTED' } = {},
): Promise<StoreUnderTest> {
  const bucket = `test-${randomUUID()}`
  const client = createS3Client(settings())
  const scarce = { maxSockets: 10, connectionMs: 5000, partSize: PART_SIZE }
  const store = createS3Store({ ...settings(), ...scarce, ...options, bucket })
  await store.prepare(never())
  return {
    store,
    residue: async (key) => {
      const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key })
      const { Uploads = [] } = await client.send(command)
      return Uploads.map(({ UploadId = '' }) => UploadId)
    },
    dispose: async () => {
      const signal = never()
      for await (const { key } of store.list({ prefix: 'users/', signal })) {
        await store.remove({ key, signal })
      }
      await client.send(new DeleteBucketCommand({ Bucket: bucket }))
      await store.close()
      client.destroy()
    },
  }
}

function settings() {
  const { endpoint, region, accessKeyId, secretAccessKey } = minio ?? ABSENT
  return {
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  }
}

const ABSENT: MinioAddress = { endpoint: '', region: '', accessKeyId: '', secretAccessKey: '' }
