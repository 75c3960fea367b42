import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BodyMemory } from '../../../src/core/memory/body-memory.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { UploadMemory } from '../../../src/core/memory/upload-memory.ts'
import { lengthExceeded } from '../../../src/core/resumable/refusals.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'
import { type Fault, type FakeRequest, hang, loseAnswer } from '../../support/faults/s3-faults.ts'
import { chunked, digest, freshKey, read } from '../../support/objects.ts'
import { countingMemory } from '../../support/upload-memory.ts'
import { heldBody, LostUpload, RecordedUpload } from '../../support/recorded-upload.ts'

const P = 100_000
const CONTENT = randomBytes(5 * P + 50)
const SMALL = CONTENT.subarray(0, 1000)

let s3: FakeS3
let store: ObjectStore

beforeEach(() => {
  s3 = new FakeS3()
  store = createS3Store(s3.options())
})
afterEach(() => store.close())

function open(length: number | undefined): RecordedUpload {
  return new RecordedUpload({ store, partSize: P, length })
}

async function expectFinished(upload: RecordedUpload, content = CONTENT): Promise<void> {
  await expect(upload.finish()).resolves.toEqual({ size: content.length })
  const stored = { size: content.length, sha256: digest(content) }
  expect(await read(store, upload.key)).toEqual(stored)
  expect(s3.uploads.size).toBe(0)
}

/** Tells how many of the next requests have been there at the same time. */
function mostAtOnce(operation: string, requests: number): () => number {
  let running = 0
  let most = 0
  const count: Fault = async (apply) => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return apply()
  }
  s3.inject(operation, ...Array.from({ length: requests }, () => count))
  return () => most
}

describe('a small content in one append', () => {
  it('is the object at once: one request to store it, one to confirm it', async () => {
    const upload = open(SMALL.length)
    await upload.append(SMALL)
    expect(s3.calls).toEqual(['PutObject'])
    expect([...s3.objects.keys()]).toEqual([upload.key])
    await upload.finish()
    expect(s3.calls).toEqual(['PutObject', 'HeadObject'])
    await expectFinished(upload, SMALL)
  })

  const appendWhole = async (content: Buffer, upload = open(content.length)) =>
    (await upload.append(content))?.durable.isFinished

  it('needs no finish if the store has confirmed its MD5', async () => {
    expect(await appendWhole(SMALL)).toBe(true)
    s3.inject('PutObject', (apply) => ({ ...apply(), headers: { etag: '"encrypted"' } }))
    expect(await appendWhole(SMALL)).toBe(false)
    expect(await appendWhole(CONTENT.subarray(0, 70_000))).toBe(false)
    const upload = open(SMALL.length)
    await upload.append(SMALL.subarray(0, 999))
    expect(await appendWhole(SMALL.subarray(999), upload)).toBe(false)
  })

  it('needs one that removes what a discarded append may have left', async () => {
    const upload = open(SMALL.length)
    await upload.append(SMALL, { isDiscarded: true })
    expect(await appendWhole(SMALL, upload)).toBe(false)
    await expectFinished(upload, SMALL)
  })

  it.each([
    ['is larger than a part', P + 1, P + 1],
    ['does not come whole', 1000, 999],
    ['has no known length', undefined, 1000],
  ])('is no object before its end if it %s', async (_name, length, size) => {
    const upload = open(length)
    await upload.append(CONTENT.subarray(0, size))
    expect([...s3.objects.keys()]).not.toContain(upload.key)
  })

  it('is no object if the body goes beyond it, since others may come in its place', async () => {
    const upload = open(SMALL.length)
    const { body, give } = heldBody()
    give(SMALL, lengthExceeded(SMALL.length))
    await upload.append(body)
    expect(s3.calls).toEqual([])
    expect(upload.offset).toBe(0)
    await upload.append(SMALL)
    await expectFinished(upload, SMALL)
  })

  it('goes on from where it broke off', async () => {
    for (const end of [0, 1, 999]) {
      const upload = open(SMALL.length)
      const { body, give } = heldBody()
      give(SMALL.subarray(0, end), new Error('connection reset'))
      await upload.append(body, { bodySize: SMALL.length })
      expect(upload.offset).toBe(end)
      await upload.append(SMALL.subarray(end))
      await expectFinished(upload, SMALL)
    }
  })

  it('is stored when the answer is lost', async () => {
    const upload = open(SMALL.length)
    s3.inject('PutObject', loseAnswer, loseAnswer, loseAnswer)
    await upload.append(SMALL)
    await expectFinished(upload, SMALL)
  })

  it('is never written twice: an upload that may have been written is lost (R21)', async () => {
    const upload = open(SMALL.length)
    const caller = new AbortController()
    s3.inject('PutObject', hang)
    const appending = upload.append(SMALL, { signal: caller.signal })
    await expect.poll(() => s3.calls).toContain('PutObject')
    caller.abort(new Error('shutdown'))
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    await expect(upload.append(SMALL)).rejects.toThrow(LostUpload)
    expect(s3.calls.filter((call) => call === 'PutObject')).toHaveLength(1)
  })

  it('is lost when its instance dies, whether or not it has sent it (R21)', async () => {
    const upload = open(SMALL.length)
    const { body } = heldBody()
    const appending = upload.append(body, { bodySize: SMALL.length })
    upload.crash()
    await expect(upload.append(SMALL)).rejects.toThrow(LostUpload)
    body.destroy(new Error('gone at last'))
    await appending
  })

  it('may not be fenced until it is known whether it was sent (R40)', async () => {
    const upload = open(SMALL.length)
    const { body, give } = heldBody()
    const states: string[] = []
    const onDurable = ({ storeState }: { readonly storeState: string }): void =>
      void states.push(storeState)
    const appending = upload.append(body, { bodySize: SMALL.length, onDurable })
    expect(store.isFenceable(upload.storeState)).toBe(false)
    give(SMALL.subarray(0, 10), new Error('connection reset'))
    await appending
    expect(states.map((state) => store.isFenceable(state))).not.toContain(false)
    expect(store.isFenceable(upload.storeState)).toBe(true)
  })

  it('can begin anew when it is given up before it is sent', async () => {
    const upload = open(SMALL.length)
    const caller = new AbortController()
    const { body, give, drained } = heldBody()
    give(SMALL.subarray(0, 10))
    const appending = upload.append(body, { signal: caller.signal, bodySize: SMALL.length })
    await drained()
    caller.abort(new Error('shutdown'))
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    await upload.append(SMALL)
    await expectFinished(upload, SMALL)
  })

  it('is none whose upload an instance may have taken along, though it was discarded or longer', async () => {
    for (const length of [undefined, P]) {
      const upload = open(length)
      s3.inject('UploadPart', (apply) => {
        upload.crash()
        return apply()
      })
      await upload.append(CONTENT.subarray(0, P), { isDiscarded: length !== undefined })
      expect([upload.offset, s3.uploads.size]).toEqual([0, 1])
      upload.length = SMALL.length
      await upload.append(SMALL)
      await expectFinished(upload, SMALL)
    }
  })

  it('is sealed by an empty append when the record of its end was lost', async () => {
    for (const size of [0, 1000, P]) {
      const content = CONTENT.subarray(0, size)
      const upload = open(size)
      await upload.append(content, { onDurable: () => upload.crash() })
      expect(upload.offset).toBe(size)
      await upload.append(CONTENT.subarray(0, 0))
      await expectFinished(upload, content)
    }
  })
})

describe('parts', () => {
  it('are the same ones wherever appends begin and break off', async () => {
    const content = randomBytes(20)
    for (let offset = 0; offset <= content.length; offset++) {
      for (let end = offset; end <= content.length; end++) {
        const upload = new RecordedUpload({ store, partSize: 7, length: content.length })
        const { body, give } = heldBody()
        give(content.subarray(0, offset), new Error('connection reset'))
        await upload.append(body)
        await upload.append(content.subarray(offset, end))
        expect(upload.offset).toBe(end)
        await upload.append(content.subarray(end))
        await expectFinished(upload, content)
      }
    }
  })

  it('go four at a time', async () => {
    const most = mostAtOnce('UploadPart', 20)
    const upload = open(20 * P)
    await upload.append(randomBytes(20 * P))
    expect(most()).toBe(4)
  })

  it('are checked by their CRC-32 in all appends, as the upload was created', async () => {
    s3.checksums = 'checked'
    const upload = open(CONTENT.length)
    await upload.append(CONTENT.subarray(0, P + 10))
    s3.checksums = 'refused'
    await upload.append(CONTENT.subarray(P + 10))
    let completed = ''
    s3.inject('CompleteMultipartUpload', (apply, _signal, { body }) => {
      completed = String(body)
      return apply()
    })
    await expectFinished(upload)
    expect(completed.match(/<ChecksumCRC32>[^<]{8}</g)).toHaveLength(6)
  })

  it('take a tail along within the memory of one part', async () => {
    const partSize = 2 ** 20
    const memory = new UploadMemory({
      budget: 8 * (partSize + 2 ** 20),
      partSize,
      maxPerUser: Infinity,
    })
    const content = randomBytes(2 * partSize)
    const upload = new RecordedUpload({ store, partSize, length: content.length })
    await upload.append(content.subarray(0, partSize - 10))
    let most = 0
    s3.inject('UploadPart', (apply) => {
      most = memory.usage().taken
      return apply()
    })
    const before = memory.usage().taken
    using allocation = await memory.allocate({ userId: 'ann', signal: AbortSignal.timeout(10_000) })
    const share = memory.usage().taken - before
    const rest = content.subarray(partSize - 10, partSize + 10)
    await upload.append(rest, { memory: allocation })
    expect(most - share).toBe(partSize)
    expect(memory.usage().taken).toBe(share)
    await upload.append(content.subarray(upload.offset))
    await expectFinished(upload, content)
  })
})

describe('the memory of an append', () => {
  it('is acquired for a part, and for the rest of a body that is known to be shorter', async () => {
    const memory = countingMemory()
    const upload = open(CONTENT.length)
    await upload.append(CONTENT.subarray(0, 2 * P), { memory })
    await upload.append(CONTENT.subarray(2 * P), { memory, bodySize: CONTENT.length - 2 * P })
    // The last 50 bytes are a part's first bytes.
    expect(memory.acquired).toEqual([P, P, P, P, P])
    await expectFinished(upload)
    const short = open(CONTENT.length)
    memory.acquired.length = 0
    await short.append(CONTENT.subarray(0, 40_000), { memory, bodySize: 40_000 })
    await short.append(CONTENT.subarray(40_000, 90_000), { memory, bodySize: 50_000 })
    expect(memory.acquired).toEqual([40_000, 50_000])
    await short.append(CONTENT.subarray(90_000, 90_005), { memory, bodySize: 5 })
    expect(memory.acquired).toEqual([40_000, 50_000])
    // With the tail, the first part is complete.
    await short.append(CONTENT.subarray(90_005), { memory, bodySize: CONTENT.length - 90_005 })
    expect(memory.acquired.slice(2)).toEqual([P, P, P, P, P])
    expect(memory.held).toBe(0)
    await expectFinished(short)
  })

  it('is acquired for the tail when only the end of the upload is to be sent', async () => {
    const memory = countingMemory()
    const upload = open(undefined)
    await upload.append(CONTENT.subarray(0, 90_000))
    upload.length = 90_000
    await upload.append(CONTENT.subarray(0, 0), { memory })
    expect(memory).toMatchObject({ acquired: [90_000], held: 0 })
    await expectFinished(upload, CONTENT.subarray(0, 90_000))
  })

  it.each([P + 10, 2 * P])('keeps what came before it was refused at byte %i', async (tried) => {
    const busy = new Error('others need it more')
    let parts = 0
    const refusing: BodyMemory = {
      ...countingMemory(),
      acquire: async () => {
        parts += 1
        if (parts > 1) throw busy
        return { release: () => undefined }
      },
    }
    const upload = open(CONTENT.length)
    const body = chunked(CONTENT.subarray(0, tried + 40_000))
    const appended = await upload.append(body, { memory: refusing })
    expect(appended).toMatchObject({ failure: busy })
    expect(upload.offset).toBeGreaterThanOrEqual(P)
    expect(upload.offset).toBeLessThan(tried + 40_000)
    expect(body.destroyed).toBe(true)
    await upload.append(CONTENT.subarray(upload.offset))
    await expectFinished(upload)
  })

  it('leaves the tail where it is when it is refused for that', async () => {
    const busy = new Error('others need it more')
    const memory = { ...countingMemory(), acquire: () => Promise.reject(busy) }
    const upload = open(CONTENT.length)
    await upload.append(CONTENT.subarray(0, P - 10))
    const appended = await upload.append(CONTENT.subarray(P - 10, P + 10), { memory })
    expect(appended).toMatchObject({ durable: { offset: P - 10 }, failure: busy })
    await upload.append(CONTENT.subarray(P - 10))
    await expectFinished(upload)
  })

  it('is not waited for when the body has broken off', async () => {
    const waiting = Promise.withResolvers<void>()
    const memory: BodyMemory = {
      ...countingMemory(),
      acquire: async (_bytes, signal) => {
        waiting.resolve()
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
        throw new Error('never')
      },
    }
    const upload = open(CONTENT.length)
    const { body, give } = heldBody()
    give(CONTENT.subarray(0, 10))
    give(CONTENT.subarray(10, 50_000))
    const appending = upload.append(body, { memory })
    await waiting.promise
    const failure = new Error('connection reset')
    body.destroy(failure)
    expect(await appending).toMatchObject({ durable: { offset: 10 }, failure })
    await upload.append(CONTENT.subarray(10))
    await expectFinished(upload)
  })
})

describe('the tail', () => {
  const KIB = 1024

  it('costs 200 appends of 1 KiB a request each, and a read for what is merged', async () => {
    const content = randomBytes(200 * KIB)
    const upload = new RecordedUpload({ store, partSize: 8 * KIB * KIB, length: undefined })
    let sent = 0
    s3.inject(
      'PutObject',
      ...Array.from({ length: 200 }, () => counting((bytes) => (sent += bytes))),
    )
    for (let at = 0; at < 200; at++) {
      await upload.append(content.subarray(at * KIB, (at + 1) * KIB))
      expect(upload.tail.length).toBeLessThanOrEqual(33)
    }
    expect(s3.calls.filter((call) => call === 'PutObject')).toHaveLength(200)
    expect(s3.calls.filter((call) => call === 'GetObject').length).toBeLessThanOrEqual(200)
    expect(sent).toBeLessThan(5 * content.length)
    upload.length = content.length
    await upload.append(content.subarray(0, 0))
    await expectFinished(upload, content)
  })

  it('has few objects however small and large appends alternate, and rewrites large ones once', async () => {
    const partSize = 8 * KIB * KIB
    const content = randomBytes(partSize - 1)
    const upload = new RecordedUpload({ store, partSize, length: content.length })
    let sent = 0
    s3.inject(
      'PutObject',
      ...Array.from({ length: 2000 }, () => counting((bytes) => (sent += bytes))),
    )
    for (let at = 0; upload.offset < content.length - 256 * KIB; at++) {
      const size = at % 32 === 31 ? 256 * KIB : 1
      await upload.append(content.subarray(upload.offset, upload.offset + size))
      expect(upload.tail.length).toBeLessThanOrEqual(64)
    }
    expect(sent).toBeLessThan(2.1 * content.length)
    await upload.append(content.subarray(upload.offset))
    await expectFinished(upload, content)
  })

  it('is not merged where there is no memory for that, and never waits for it', async () => {
    const upload = open(undefined)
    const memory = { ...countingMemory(), tryAcquire: () => undefined }
    for (let at = 0; at < 40; at++) {
      await upload.append(CONTENT.subarray(at, at + 1), { memory })
    }
    expect(upload.tail).toHaveLength(40)
    expect(s3.calls).not.toContain('GetObject')
    await upload.append(CONTENT.subarray(40, 41))
    expect(upload.tail).toHaveLength(1)
    upload.length = CONTENT.length
    await upload.append(CONTENT.subarray(41))
    await expectFinished(upload)
  })

  it('is read back in its order, eight objects at a time, also large ones', async () => {
    const partSize = 2 ** 20
    const content = randomBytes(partSize)
    const upload = new RecordedUpload({ store, partSize, length: content.length })
    for (let at = 0; at < 20; at++) {
      const size = at % 3 === 0 ? 100_000 : 10
      await upload.append(content.subarray(upload.offset, upload.offset + size))
    }
    expect(upload.tail).toHaveLength(20)
    const most = mostAtOnce('GetObject', 20)
    await upload.append(content.subarray(upload.offset))
    expect(most()).toBe(8)
    await expectFinished(upload, content)
  })

  it('is marked as such, and bears no name', async () => {
    const metadata = { name: 'secret.txt' }
    const upload = new RecordedUpload({ store, partSize: P, length: P, metadata })
    await upload.append(SMALL)
    expect([...s3.objects.values()].map(({ metadata }) => metadata)).toEqual([{ tail: '1' }])
  })

  it('stays when its upload is removed: its key is a journal of its own', async () => {
    const upload = open(CONTENT.length)
    await upload.append(SMALL)
    await store.remove({ key: upload.key, signal: AbortSignal.timeout(1000) })
    expect([...s3.objects.keys()]).toEqual(upload.tailKeys)
  })

  it('is not stored without a key for it', async () => {
    const appending = store.append({
      key: freshKey(),
      body: chunked(SMALL),
      offset: 0,
      length: undefined,
      partSize: P,
      storeState: '{}',
      tail: [],
      tailKey: undefined,
      metadata: {},
      onDurable: () => undefined,
      onTail: () => undefined,
      signal: AbortSignal.timeout(1000),
    })
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    expect(s3.objects.size).toBe(0)
  })
})

function counting(onBytes: (bytes: number) => void): Fault {
  return (apply, _signal, { headers }: FakeRequest) => {
    onBytes(Number(headers['content-length']))
    return apply()
  }
}
