import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { createDownloadUrls } from '../../../src/object-store/s3/download-urls.ts'
import { createS3Store, type S3StoreOptions } from '../../../src/object-store/s3/store.ts'
import { appendStoreContract } from '../../core/objects/append-store-contract.ts'
import type { AppendStoreUnderTest } from '../../core/objects/append-subject.ts'
import { objectStoreContract, PART_SIZE } from '../../core/objects/object-store-contract.ts'
import { digest, freshKey, never, put, read } from '../../support/objects.ts'
import { failure } from '../../support/faults/s3-faults.ts'
import type { S3Address } from '../../support/servers/s3-server.ts'
import { spyOnParts } from '../../support/faults/spying-transport.ts'
import {
  freshBucket,
  ONE_SERVER,
  openUploads,
  removeBucket,
} from '../../support/service/test-bucket.ts'

/** What the S3 store has to do on every server that it is said to work with; skipped without one. */
export function s3ServerSuite(
  name: string,
  address: S3Address | undefined,
  differences: ServerDifferences = {},
): void {
  describe.skipIf(address === undefined)(`S3, on ${name},`, () => {
    s3ServerTests(address, differences)
  })
}

type ServerDifferences = Pick<AppendStoreUnderTest, 'keepsReplacedParts'>

function s3ServerTests(address: S3Address | undefined, differences: ServerDifferences): void {
  const createSubject = async (options: Partial<S3StoreOptions> = {}) => ({
    ...(await openSubject({ ...freshBucket(address), ...options })),
    ...differences,
  })

  objectStoreContract('the S3 store', () => createSubject())
  appendStoreContract('the S3 store', () => createSubject())

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

  it('checks parts by their CRC-32, and takes none that was altered on its way', async () => {
    let isAltered = false
    const sums: (string | undefined)[] = []
    const requestHandler = spyOnParts((part) => {
      sums.push(part.headers['x-amz-checksum-crc32'])
      return isAltered ? { ...part, body: part.body?.map((piece) => piece.toReversed()) } : part
    })
    const subject = await createSubject({ requestHandler })
    const { store } = subject
    const content = randomBytes(2 * PART_SIZE + 1)
    const key = freshKey()
    await put(store, { key, content })
    expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
    expect(sums.map((sum) => typeof sum)).toEqual(['string', 'string', 'string'])

    isAltered = true
    const altered = freshKey()
    const writing = put(store, { key: altered, content })
    await expect(writing).rejects.toMatchObject({ code: 'unavailable' })
    expect(await subject.residue(altered)).toEqual([])
    await subject.dispose()
  })

  it('has the store check content against the digest that it is told', async () => {
    const subject = await createSubject()
    const { store } = subject
    const content = randomBytes(PART_SIZE / 2)
    const wrong = digest(randomBytes(1))
    for (const body of [content, () => Readable.from([content])]) {
      const putTold = (key: ObjectKey, sha256: string) =>
        store.put({
          key,
          body: typeof body === 'function' ? body() : body,
          sha256: () => sha256,
          signal: never(),
        })
      const key = freshKey()
      await putTold(key, digest(content))
      expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
      const altered = freshKey()
      await expect(putTold(altered, wrong)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await store.head({ key: altered, signal: never() })).toBeUndefined()
    }
    await subject.dispose()
  })

  it('has parts checked again after one request for that was refused on its way', async () => {
    const refusals = [failure(400, 'BadRequest')]
    const sums: (string | undefined)[] = []
    const requestHandler = spyOnParts(
      (part) => {
        sums.push(part.headers['x-amz-checksum-crc32'])
        return part
      },
      ({ query }) => ('uploads' in query ? refusals.pop() : undefined),
    )
    const subject = await createSubject({ requestHandler })
    const content = randomBytes(2 * PART_SIZE + 1)
    for (let upload = 0; upload < 2; upload++) {
      const key = freshKey()
      await put(subject.store, { key, content })
      expect(await read(subject.store, key)).toEqual({
        size: content.length,
        sha256: digest(content),
      })
    }
    expect(refusals).toEqual([])
    const none = 'undefined'
    const expected = [none, none, none, 'string', 'string', 'string']
    expect(sums.map((sum) => typeof sum)).toEqual(expected)
    await subject.dispose()
  })

  it('gives an object, as an attachment, at a URL that opens no other and is dead after a minute', async () => {
    const settings = freshBucket(address)
    const subject = await openSubject(settings)
    const { store } = subject
    const [content, other] = [randomBytes(3 * PART_SIZE), randomBytes(10)]
    const [key, otherKey] = [freshKey(), freshKey()]
    await put(store, { key, content })
    await put(store, { key: otherKey, content: other })
    const disposition = `attachment; filename="a_b.html"; filename*=UTF-8''a%C3%A4b.html`
    const signedAt = async (now: number): Promise<string> => {
      const urls = await createDownloadUrls({ ...urlSettings(settings), now: () => now })
      return urls.sign({ key, disposition })
    }
    const url = await signedAt(Date.now())
    const whole = await fetch(url)
    expect(whole.status).toBe(200)
    expect(digest(new Uint8Array(await whole.arrayBuffer()))).toBe(digest(content))
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': disposition,
      'cache-control': 'private, no-store',
    })
    const part = await fetch(url, { headers: { range: 'bytes=5-14' } })
    expect(part.status).toBe(206)
    expect(Buffer.from(await part.arrayBuffer())).toEqual(content.subarray(5, 15))

    const statusOf = async (asked: string, method = 'GET') =>
      (await fetch(asked, { method, ...(method === 'PUT' && { body: 'x' }) })).status
    expect(await statusOf(url.replace(key, otherKey))).toBe(403)
    expect(await statusOf(url.replace('attachment', 'inline'))).toBe(403)
    expect(await statusOf(url.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'))).toBe(403)
    for (const method of ['PUT', 'DELETE']) expect(await statusOf(url, method)).toBe(403)
    expect(await statusOf(await signedAt(Date.now() - 50_000))).toBe(200)
    expect(await statusOf(await signedAt(Date.now() - 61_000))).toBe(403)
    expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
    await subject.dispose()
  })

  it('says that a missing bucket is no missing object (E15)', async () => {
    const store = createS3Store(freshBucket(address))
    const named = { key: freshKey(), signal: never() }
    await expect(store.open(named)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.head(named)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(put(store, named)).rejects.toMatchObject({ code: 'unavailable' })
    await store.close()
  })

  it('has no identity without a bucket, and creates none by asking', async () => {
    const store = createS3Store(freshBucket(address))
    expect(await store.readIdentity(never())).toBeUndefined()
    await expect(store.check(never())).rejects.toMatchObject({ code: 'unavailable' })
    await store.close()
  })

  it('is not ready with wrong credentials (E15)', async () => {
    const credentials = { accessKeyId: 'nobody', secretAccessKey: 'wrong-secret' }
    const store = createS3Store({ ...freshBucket(address), credentials })
    await expect(store.prepare(never())).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.readIdentity(never())).rejects.toMatchObject({ code: 'unavailable' })
    await store.close()
  })
}

function urlSettings({ bucket, region, endpoint, credentials }: S3StoreOptions) {
  return { bucket, region, endpoint, credentials, forcePathStyle: true }
}

/** A store on a bucket of its own, with so few sockets that a leak of them is soon felt. */
async function openSubject(settings: S3StoreOptions): Promise<AppendStoreUnderTest> {
  const scarce = { maxSockets: 10, connectionMs: 5000, partSize: PART_SIZE }
  const store = createS3Store({ ...settings, ...scarce, deadlines: ONE_SERVER })
  await store.prepare(never())
  return {
    store,
    partSize: PART_SIZE,
    residue: (key) => openUploads(settings, key),
    dispose: async () => {
      await store.close()
      await removeBucket(settings)
    },
  }
}
