import { MAX_OBJECT_METADATA_BYTES, PREFIX_BYTES } from '../../../src/core/files/object-metadata.ts'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { detachBuffer, type ObjectStore } from '../../../src/core/objects/object-store.ts'
import { AppError, isAppError } from '../../../src/core/errors.ts'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import {
  bytesOf,
  chunked,
  digest,
  failingAfter,
  freshKey,
  never,
  put,
  read,
  stalledBody,
  streamOf,
} from '../../support/objects.ts'
import { countingMemory } from '../../support/upload-memory.ts'

/** A prepared store, and a way to see what it holds besides objects. */
export interface StoreUnderTest {
  readonly store: ObjectStore
  /** What is left under `key` of unfinished puts: temporary files, open multipart uploads. */
  residue(key: ObjectKey): Promise<readonly string[]>
  dispose(): Promise<void>
}

/** Size of the parts that a store under test is to send, in bytes: the smallest that S3 takes. */
export const PART_SIZE = 5 * 1024 * 1024

const SIZES = {
  'an empty object': 0,
  'one byte': 1,
  '64 KiB': 64 * 1024,
  'one byte less than a part': PART_SIZE - 1,
  'a part': PART_SIZE,
  'one byte more than a part': PART_SIZE + 1,
  'two parts': 2 * PART_SIZE,
  'three parts and a byte': 3 * PART_SIZE + 1,
}

const RANGES = [
  { first: 0, last: 0 },
  { first: 1, last: 1 },
  { first: 0, last: 199_999 },
  { first: 199_999, last: 199_999 },
  { first: 65_535, last: 65_536 },
  { first: 70_000, last: 150_000 },
]

/** All that `objectMetadata` lets through. */
const LARGEST = {
  name: 'a',
  'media-type': 'image%2Fpng',
  metadata: 'm'.repeat(
    MAX_OBJECT_METADATA_BYTES - 3 * PREFIX_BYTES - 'nameamedia-typeimage%2Fpngmetadata'.length,
  ),
}

/** What the port promises (`core/objects/object-store.ts`), as tests that every adapter has to pass. */
export function objectStoreContract(
  name: string,
  createStore: () => Promise<StoreUnderTest>,
): void {
  describe(`${name} keeps the object store's contract`, () => {
    let subject: StoreUnderTest
    beforeAll(async () => {
      subject = await createStore()
    })
    afterAll(() => subject.dispose())
    const current = () => subject
    describe('put and open', () => {
      testRoundTrips(current)
    })
    describe('a failed put', () => {
      testFailures(current)
    })
    describe('open', () => {
      testReaders(current)
    })
    describe('remove and list', () => {
      testRemoveAndList(current)
    })
    describe('the identity', () => {
      testIdentity(current)
    })
  })
}

type Current = () => StoreUnderTest

function testRoundTrips(current: Current): void {
  it.each(Object.entries(SIZES))('return %s byte for byte (E21)', async (_name, size) => {
    const { store } = current()
    const content = randomBytes(size)
    const key = freshKey()
    await expect(put(store, { key, content })).resolves.toEqual({ size })
    expect(await read(store, key)).toEqual({ size, sha256: digest(content) })
    await expect(store.head({ key, signal: never() })).resolves.toEqual({ size, metadata: {} })
    expect(await current().residue(key)).toEqual([])
  })

  it.each([0, 1, 32 * 1024, PART_SIZE + 1])('take %d bytes that have all arrived', async (size) => {
    const { store } = current()
    const content = randomBytes(size)
    const object = { key: freshKey(), body: content, metadata: { name: 'a' }, signal: never() }
    await expect(store.put(object)).resolves.toEqual({ size })
    expect(await read(store, object.key)).toEqual({ size, sha256: digest(content) })
    const head = { size, metadata: { name: 'a' } }
    await expect(store.head({ ...object, signal: never() })).resolves.toEqual(head)
    expect(await current().residue(object.key)).toEqual([])
  })

  it('take bytes that are part of a larger buffer', async () => {
    const { store } = current()
    const content = randomBytes(3000)
    const key = freshKey()
    await store.put({ key, body: content.subarray(1000, 2000), signal: never() })
    expect(await read(store, key)).toEqual({
      size: 1000,
      sha256: digest(content.subarray(1000, 2000)),
    })
  })

  it('take an expected size that turns out too large or too small', async () => {
    const { store } = current()
    const content = randomBytes(PART_SIZE + 1)
    for (const expectedSize of [0, 1, PART_SIZE, 10 * PART_SIZE]) {
      const key = freshKey()
      const body = chunked(content)
      await store.put({ key, body, expectedSize, signal: never() })
      expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
    }
  })

  it.each<[string, number, Readonly<Record<string, string>>]>([
    ['of a small object', 7, { name: 'r%C3%A9sum%C3%A9.pdf' }],
    ['of one in parts', PART_SIZE + 1, { name: "a%26b!'()*-._~" }],
    ['as long as a name can make them', 0, { name: '%F0%9F%92%BE'.repeat(63) }],
    ['of one in parts, as large as they can be', PART_SIZE + 1, LARGEST],
    ['of one without parts, as large as they can be', 40_000, LARGEST],
  ])('keep metadata %s', async (_case, size, metadata) => {
    const { store } = current()
    const key = freshKey()
    const put = { key, body: chunked(Buffer.alloc(size)), metadata }
    await expect(store.put({ ...put, signal: never() })).resolves.toEqual({ size })
    const head = { size, metadata }
    await expect(store.head({ key, signal: never() })).resolves.toEqual(head)
    await store.remove({ key, signal: never() })
    await expectNothingLeft(current(), key)
  })

  it('release all memory that they have acquired', async () => {
    const memory = countingMemory()
    const body = chunked(randomBytes(300_000))
    await current().store.put({ key: freshKey('ada'), body, memory, signal: never() })
    expect(memory.held).toBe(0)
  })

  it('leave no byte out when the caller frees each chunk that they are done with', async () => {
    const { store } = current()
    const key = freshKey()
    const chunks = ownChunks()
    const content = Buffer.concat(chunks)
    const body = Readable.from(chunks)
    await store.put({ key, body, release: detachBuffer, signal: never() })
    expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
  })

  it('leave the chunks alone of a caller who does not free them', async () => {
    const { store } = current()
    const chunks = ownChunks()
    const content = Buffer.concat(chunks)
    await store.put({ key: freshKey(), body: Readable.from(chunks), signal: never() })
    expect(Buffer.concat(chunks).equals(content)).toBe(true)
  })

  it('serve twenty objects that are written at once', async () => {
    const { store } = current()
    const objects = Array.from({ length: 20 }, (_, index) => ({
      key: freshKey(),
      content: randomBytes(index * 50_000),
    }))
    await Promise.all(objects.map((object) => put(store, object)))
    for (const { key, content } of objects) {
      expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
    }
  })

  it('show nothing of an object before it is whole', async () => {
    const { store } = current()
    const key = freshKey()
    const { body, drained, finish } = stalledBody(PART_SIZE + 70_000)
    const writing = store.put({ key, body, signal: never() })
    await drained()
    await expectAbsent(store, key)
    finish()
    await expect(writing).resolves.toEqual({ size: PART_SIZE + 70_000 })
    await expect(store.head({ key, signal: never() })).resolves.toEqual({
      size: PART_SIZE + 70_000,
      metadata: {},
    })
  })

  it.each(RANGES)('return the bytes $first to $last', async (range) => {
    const { store } = current()
    const key = freshKey()
    const content = randomBytes(200_000)
    await put(store, { key, content })
    const opened = await store.open({ key, range, signal: never() })
    expect(opened?.size).toBe(200_000)
    const bytes = await bytesOf(opened?.body)
    expect(digest(bytes)).toBe(digest(content.subarray(range.first, range.last + 1)))
  })
}

function testFailures(current: Current): void {
  const moments = { 'at once': 0, 'within the first part': 100_000, later: 2 * PART_SIZE + 9 }

  it.each(Object.entries(moments))(
    'rejects with the very error of a body that fails %s, and leaves nothing',
    async (_name, size) => {
      const { store } = current()
      const key = freshKey()
      const failure = new AppError('truncated_body', 'The body ended early.')
      const body = Readable.from(failingAfter(size, failure))
      await expect(put(store, { key, body })).rejects.toBe(failure)
      await expectNothingLeft(current(), key)
    },
  )

  it('rejects when its signal had aborted, and leaves nothing', async () => {
    const { store } = current()
    const key = freshKey()
    const signal = AbortSignal.abort(new Error('gone'))
    const putting = store.put({ key, body: Buffer.from('abc'), signal })
    await expect(putting).rejects.toMatchObject({ code: 'unavailable' })
    await expectNothingLeft(current(), key)
  })

  it('rejects with the very error of a body that had failed before', async () => {
    const { store } = current()
    const failure = new Error('connection reset')
    const body = new Readable({ read: () => undefined })
    body.destroy(failure)
    await expect(put(store, { key: freshKey(), body })).rejects.toBe(failure)
  })

  it('rejects when its body is destroyed without an error', async () => {
    const key = freshKey()
    const { body, drained } = stalledBody(PART_SIZE + 1)
    const writing = put(current().store, { key, body })
    await drained()
    body.destroy()
    await expect(writing).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
    await expectNothingLeft(current(), key)
  })

  it.each(Object.entries(moments))(
    'rejects at once when its signal aborts while the body stalls %s, and leaves nothing (E13)',
    async (_name, size) => {
      const { store } = current()
      const key = freshKey()
      const caller = new AbortController()
      const { body, drained } = stalledBody(size)
      const writing = put(store, { key, body, signal: caller.signal })
      await drained()
      const reason = new Error('client gone')
      const before = performance.now()
      caller.abort(reason)
      await expect(writing).rejects.toMatchObject({ code: 'unavailable', cause: reason })
      expect(performance.now() - before).toBeLessThan(1000)
      expect(body.destroyed).toBe(true)
      await expectNothingLeft(current(), key)
    },
  )

  it('is what every method does when its signal has aborted', async () => {
    const { store } = current()
    const key = freshKey()
    const signal = AbortSignal.abort(new Error('too late'))
    const { body } = stalledBody(10)
    const calls = [
      put(store, { key, body, signal }),
      store.open({ key, signal }),
      store.head({ key, signal }),
      store.remove({ key, signal }),
      store.prepare(signal),
      store.readIdentity(signal),
      store.createIdentity(randomUUID(), signal),
      keysUnder(store, 'users/', signal),
    ]
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome.status === 'rejected' && isAppError(outcome.reason, 'unavailable')).toBe(true)
    }
    expect(body.destroyed).toBe(true)
  })
}

function testReaders(current: Current): void {
  it('finds no object where none is', async () => {
    const { store } = current()
    const key = freshKey()
    await expect(store.head({ key, signal: never() })).resolves.toBeUndefined()
    await expect(store.open({ key, signal: never() })).resolves.toBeUndefined()
  })

  it('serves others after a hundred readers have left in the middle or before the first byte', async () => {
    const { store } = current()
    const key = freshKey()
    const content = randomBytes(1024 * 1024)
    await put(store, { key, content })
    for (let reader = 0; reader < 100; reader += 1) {
      const opened = await store.open({ key, signal: never() })
      if (reader % 2 === 0) await streamOf(opened)[Symbol.asyncIterator]().next()
      streamOf(opened).destroy()
    }
    expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
  })

  it('lets a reader take a pause', async () => {
    const { store } = current()
    const key = freshKey()
    const content = randomBytes(3 * PART_SIZE)
    await put(store, { key, content })
    const opened = await store.open({ key, signal: never() })
    const chunks: Buffer[] = []
    for await (const chunk of streamOf(opened)) {
      if (chunks.length === 0) await new Promise((resolve) => setTimeout(resolve, 400))
      if (chunk instanceof Buffer) chunks.push(chunk)
    }
    expect(digest(Buffer.concat(chunks))).toBe(digest(content))
  })

  it('reads nothing ahead of a reader who has paused', async () => {
    const { store } = current()
    const key = freshKey()
    await put(store, { key, content: randomBytes(4 * 1024 * 1024) })
    const opened = await store.open({ key, signal: never() })
    const body = streamOf(opened)
    await new Promise<void>((resolve) => {
      body.once('data', () => {
        body.pause()
        resolve()
      })
    })
    // As long as a read takes that should not be.
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(body.readableLength).toBe(0)
    body.destroy()
  })

  it('brings every byte to a reader while others release what they have read', async () => {
    const { store } = current()
    const key = freshKey()
    const content = randomBytes(PART_SIZE + 1)
    await put(store, { key, content })
    const slow = await store.open({ key, signal: never() })
    const kept: Buffer[] = []
    for await (const chunk of streamOf(slow)) {
      if (chunk instanceof Buffer) kept.push(chunk)
      const hashed = await readAndRelease(store, key)
      expect(hashed).toBe(digest(content))
      if (kept.length === 4) break
    }
    const bytes = Buffer.concat(kept)
    expect(bytes.equals(content.subarray(0, bytes.length))).toBe(true)
  })

  it('ends a body whose signal aborts', async () => {
    const { store } = current()
    const key = freshKey()
    await put(store, { key, content: randomBytes(1024 * 1024) })
    const caller = new AbortController()
    const opened = await store.open({ key, signal: caller.signal })
    const reading = bytesOf(opened?.body)
    caller.abort()
    await expect(reading).rejects.toThrow('aborted')
    expect(streamOf(opened).destroyed).toBe(true)
  })
}

function testRemoveAndList(current: Current): void {
  it('takes an object away, and is fine when there is none', async () => {
    const { store } = current()
    const key = freshKey()
    await put(store, { key, content: Buffer.from('gone soon') })
    await store.remove({ key, signal: never() })
    await expectNothingLeft(current(), key)
    await expect(store.remove({ key, signal: never() })).resolves.toBeUndefined()
  })

  it('takes away what a put that is still running has left, and the put fails', async () => {
    const { store } = current()
    const key = freshKey()
    const caller = new AbortController()
    const { body, drained } = stalledBody(2 * PART_SIZE + 1)
    const writing = put(store, { key, body, signal: caller.signal })
    // It may fail as soon as its parts are gone.
    writing.catch(() => undefined)
    await drained()
    // On a busy machine, the put may only now begin to leave something.
    const residue = async () => {
      await store.remove({ key, signal: never() })
      return await current().residue(key)
    }
    await expect.poll(residue).toEqual([])
    caller.abort()
    await expect(writing).rejects.toMatchObject({ code: 'unavailable' })
    await expectNothingLeft(current(), key)
  })

  it('lists the objects of one user and of nobody else', async () => {
    const { store } = current()
    const [mine, longer, other] = ['list', 'list-er', 'lis'].map((userId) => freshKey(userId))
    if (!mine || !longer || !other) throw new Error('three keys')
    for (const key of [mine, longer, other]) await put(store, { key, content: Buffer.from(key) })
    await expect(keysUnder(store, 'users/list/')).resolves.toEqual([mine])
    await expect(keysUnder(store, 'users/list-er/')).resolves.toEqual([longer])
    await expect(keysUnder(store, 'users/nobody/')).resolves.toEqual([])
    const all = await keysUnder(store, 'users/')
    expect(all).toEqual(expect.arrayContaining([mine, longer, other]))
  })

  it('lists each object once with its size, and no unfinished upload', async () => {
    const { store } = current()
    const whole = freshKey('sizes')
    await put(store, { key: whole, content: randomBytes(1234) })
    const caller = new AbortController()
    const { body, drained } = stalledBody(PART_SIZE + 1)
    const writing = put(store, { key: freshKey('sizes'), body, signal: caller.signal })
    await drained()
    const listed = store.list({ prefix: 'users/sizes/', signal: never() })
    for await (const object of listed) expect(object).toEqual({ key: whole, size: 1234 })
    await expect(keysUnder(store, 'users/sizes/')).resolves.toEqual([whole])
    caller.abort()
    await expect(writing).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('prepares as often as one likes, also at the same time', async () => {
    const { store } = current()
    const calls = [store.prepare(never()), store.prepare(never()), store.prepare(never())]
    await expect(Promise.all(calls)).resolves.toHaveLength(3)
  })
}

/** One test: the store can be given its identity only once. */
function testIdentity(current: Current): void {
  it('is the first that the store is given, for all who give it one, and no object', async () => {
    const { store } = current()
    expect(await store.readIdentity(never())).toBeUndefined()
    const key = freshKey('identity')
    await put(store, { key, content: Buffer.from('content') })
    const first = randomUUID()
    expect(await store.createIdentity(first, never())).toBe(first)
    const others = [first, randomUUID(), randomUUID()]
    const given = await Promise.all(others.map((other) => store.createIdentity(other, never())))
    expect(given).toEqual([first, first, first])
    expect(await store.readIdentity(never())).toBe(first)
    expect(await keysUnder(store, 'users/identity/')).toEqual([key])
    await store.remove({ key, signal: never() })
    await store.prepare(never())
    expect(await store.readIdentity(never())).toBe(first)
  })
}

async function keysUnder(
  store: ObjectStore,
  prefix: string,
  signal = never(),
): Promise<readonly ObjectKey[]> {
  const keys: ObjectKey[] = []
  for await (const { key } of store.list({ prefix, signal })) keys.push(key)
  return keys
}

async function expectAbsent(store: ObjectStore, key: ObjectKey): Promise<void> {
  await expect(store.head({ key, signal: never() })).resolves.toBeUndefined()
  await expect(store.open({ key, signal: never() })).resolves.toBeUndefined()
}

async function expectNothingLeft(subject: StoreUnderTest, key: ObjectKey): Promise<void> {
  await expectAbsent(subject.store, key)
  expect(await subject.residue(key)).toEqual([])
}

/** More than a part, in chunks with memory of their own, as they come on a connection; one lies across two parts. */
function ownChunks(): readonly Uint8Array[] {
  return Array.from({ length: 90 }, () => new Uint8Array(randomBytes(60_000)))
}

/** The digest of an object, of which each chunk is released as soon as it was hashed. */
async function readAndRelease(store: ObjectStore, key: ObjectKey): Promise<string> {
  const opened = await store.open({ key, signal: never() })
  const hash = createHash('sha256')
  for await (const chunk of streamOf(opened)) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('A body yields bytes')
    hash.update(chunk)
    opened?.release?.(chunk)
  }
  return hash.digest('hex')
}
