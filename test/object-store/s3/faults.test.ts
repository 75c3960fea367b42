import { randomBytes, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { PART_SIZE } from '../../core/objects/object-store-contract.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'
import {
  bytesOf,
  digest,
  freshKey,
  never,
  put,
  read,
  stalledBody,
  streamOf,
} from '../../support/objects.ts'
import {
  answer,
  type FakeRequest,
  type Fault,
  hang,
  ignore,
  loseAnswer,
  refuse,
  reset,
  say,
  skewClock,
  xml,
} from '../../support/faults/s3-faults.ts'

const SMALL = randomBytes(70_000)
const LARGE = randomBytes(2 * PART_SIZE + 1)
const ERROR = '<?xml version="1.0"?><Error><Code>InternalError</Code></Error>'

let s3: FakeS3
let store: ObjectStore

beforeEach(() => {
  s3 = new FakeS3()
  store = createS3Store(s3.options())
})
afterEach(() => store.close())

interface Case {
  readonly name: string
  readonly content: Buffer
  readonly operation: string
  readonly faults: readonly Fault[]
}

function part(name: string, ...faults: readonly Fault[]): Case {
  return { name, content: LARGE, operation: 'UploadPart', faults }
}

function create(name: string, ...faults: readonly Fault[]): Case {
  return { name, content: LARGE, operation: 'CreateMultipartUpload', faults }
}

function complete(name: string, ...faults: readonly Fault[]): Case {
  return { name, content: LARGE, operation: 'CompleteMultipartUpload', faults }
}

function single(name: string, ...faults: readonly Fault[]): Case {
  return { name, content: SMALL, operation: 'PutObject', faults }
}

function head(name: string, ...faults: readonly Fault[]): Case {
  return { name, content: SMALL, operation: 'HeadObject', faults }
}

const SURVIVED: readonly Case[] = [
  part('E01: the store is busy twice', refuse(503, 'SlowDown'), refuse(503, 'SlowDown')),
  part('E03: the connection breaks in a part', reset),
  complete('E06: Complete fails after its status line', say(ERROR)),
  complete('E09: the answer of Complete is lost', loseAnswer),
  complete('E09: all answers of Complete are lost', loseAnswer, reset, reset),
  single('E10: the answer of Put is lost', loseAnswer),
  single('E10: all answers of Put are lost', loseAnswer, loseAnswer, loseAnswer),
  create('E11: the answer of Create is lost', loseAnswer),
  create('E11: two answers of Create are lost', loseAnswer, loseAnswer),
  single('E16: the clocks differ by 20 minutes', skewClock(20 * 60_000)),
]

describe('a put succeeds, and leaves no open upload, when', () => {
  it.each(SURVIVED)('$name', async ({ content, operation, faults }) => {
    const key = freshKey()
    s3.inject(operation, ...faults)
    await expect(put(store, { key, content })).resolves.toEqual({ size: content.length })
    expect(await read(store, key)).toEqual({ size: content.length, sha256: digest(content) })
    expect(s3.uploads.size).toBe(0)
  })
})

const DENIED = refuse(403, 'AccessDenied')

const FATAL: readonly Case[] = [
  part('E02: the store stays busy', ...always(refuse(503, 'SlowDown'))),
  part('E03: the connection always breaks', ...always(reset)),
  complete('E07: Complete fails and seems to succeed', say(`${ERROR}\n`)),
  complete('E08: Complete answers nothing', ...always(say(''))),
  complete('E08: Complete answers blanks', ...always(say(' '))),
  complete('E08: Complete confirms no ETag', (apply) => {
    apply()
    return xml(200, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
  }),
  complete('E08: Complete breaks off', ...always(say('<CompleteMultipartUploadRes'))),
  create('E15: access is denied to Create', DENIED),
  part('E15: access is denied to a part', DENIED),
  single('E15: access is denied to Put', DENIED),
  part('E17: the disk is full', ...always(refuse(507, 'XMinioStorageFull'))),
  single('E18: the store confirms what it has not stored', () => answer(200, { etag: '"x"' })),
  head('E18: the store holds fewer bytes', () => answer(200, { 'content-length': '69999' })),
  complete('E09: the answer is lost and the object is short', (apply) => {
    const response = apply()
    for (const [key, object] of s3.objects) {
      s3.objects.set(key, { ...object, content: object.content.subarray(1) })
    }
    return response.statusCode === 200 ? reset() : response
  }),
  head('E18: the store states no size', () => answer(200)),
]

it('E16: a call through the SDK succeeds when the clocks begin, and when they cease, to differ', async () => {
  for (const ms of [20 * 60_000, 0, -20 * 60_000, 0]) {
    s3.inject('HeadBucket', skewClock(ms))
    await store.check(never())
  }
  for (const ms of [20 * 60_000, 0]) {
    s3.inject('CreateMultipartUpload', skewClock(ms))
    await put(store, { key: freshKey(), content: LARGE })
  }
  s3.inject('HeadBucket', skewClock(0))
  await expect(store.check(never())).rejects.toMatchObject({ code: 'unavailable' })
})

describe('a put rejects in time with unavailable, and leaves nothing, when', () => {
  it.each(FATAL)('$name', async ({ content, operation, faults }) => {
    const key = freshKey()
    s3.inject(operation, ...faults)
    await expect(put(store, { key, content })).rejects.toMatchObject({ code: 'unavailable' })
    expect([...s3.objects.keys(), ...s3.uploads.keys()]).toEqual([])
  })
})

const UNANSWERED: readonly Case[] = [
  create('Create is never answered', hang),
  part('a part is never answered', hang),
  part('a part is never answered, whatever is done', ignore),
  complete('Complete is never answered', hang),
  single('Put is never answered', hang),
  head('the final Head is never answered', hang),
]

describe('a put rejects at its deadline, and leaves nothing, when', () => {
  it.each(UNANSWERED)('$name (E04)', async ({ content, operation, faults }) => {
    const hasty = createS3Store({ ...s3.options(), deadlines: SHORT })
    s3.inject(operation, ...faults)
    const writing = put(hasty, { key: freshKey(), content })
    await expect(writing).rejects.toMatchObject(TIMED_OUT)
    expect([...s3.objects.keys(), ...s3.uploads.keys()]).toEqual([])
  })
})

describe('a put', () => {
  it('rejects at once when a part fails while the client stalls (E05)', async () => {
    s3.inject('UploadPart', DENIED)
    const { body } = stalledBody(PART_SIZE + 70_000)
    const before = performance.now()
    const writing = put(store, { key: freshKey(), body })
    await expect(writing).rejects.toMatchObject({ cause: { name: 'AccessDenied' } })
    expect(performance.now() - before).toBeLessThan(1000)
    expect(body.destroyed).toBe(true)
    expect(s3.uploads.size).toBe(0)
  })

  it.each([
    ['body fails', { message: 'client gone' }],
    ['caller aborts', { code: 'unavailable' }],
  ])('lets a part in flight end before it aborts the upload when its %s', async (what, outcome) => {
    const stored = Promise.withResolvers<void>()
    s3.inject('UploadPart', async (apply) => {
      await stored.promise
      return apply()
    })
    const failure = new Error('client gone')
    const caller = new AbortController()
    const { body, drained } = stalledBody(PART_SIZE + 70_000)
    const writing = put(store, { key: freshKey(), body, signal: caller.signal })
    writing.catch(() => undefined)
    await drained()
    await expect.poll(() => s3.calls).toContain('UploadPart')
    if (what === 'body fails') body.destroy(failure)
    else caller.abort(failure)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    expect(s3.calls).not.toContain('ListMultipartUploads')
    stored.resolve()
    await expect(writing).rejects.toMatchObject(outcome)
    expect(s3.calls.filter((call) => call === 'UploadPart')).toHaveLength(1)
    expect(s3.uploads.size).toBe(0)
  })

  it('does not wait for ever for a part that hangs when its body fails', async () => {
    s3.inject('UploadPart', hang)
    const options = s3.options()
    const hasty = createS3Store({ ...options, deadlines: { ...options.deadlines, cleanupMs: 300 } })
    const failure = new Error('client gone')
    const { body, drained } = stalledBody(PART_SIZE + 70_000)
    const writing = put(hasty, { key: freshKey(), body })
    await drained()
    const before = performance.now()
    body.destroy(failure)
    await expect(writing).rejects.toBe(failure)
    expect(performance.now() - before).toBeLessThan(1000)
    expect(s3.uploads.size).toBe(0)
  })

  it('ends the multipart upload that the store is still making when its body fails', async () => {
    const reached = Promise.withResolvers<void>()
    const made = Promise.withResolvers<void>()
    s3.inject('CreateMultipartUpload', async (apply) => {
      reached.resolve()
      await made.promise
      return apply()
    })
    const failure = new Error('client gone')
    const { body } = stalledBody(PART_SIZE + 70_000)
    const writing = put(store, { key: freshKey(), body })
    await reached.promise
    body.destroy(failure)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    made.resolve()
    await expect(writing).rejects.toBe(failure)
    expect(s3.uploads.size).toBe(0)
  })

  it('reports the first cause when cleaning up fails too (E12)', async () => {
    s3.inject('UploadPart', DENIED)
    s3.inject('AbortMultipartUpload', ...always(refuse(500, 'InternalError')))
    const writing = put(store, { key: freshKey(), content: LARGE })
    await expect(writing).rejects.toMatchObject({ cause: { name: 'AccessDenied' } })
  })

  it('does not wait for ever for its cleaning up', async () => {
    s3.inject('UploadPart', DENIED)
    s3.inject('ListMultipartUploads', ignore)
    const options = s3.options()
    const hasty = createS3Store({ ...options, deadlines: { ...options.deadlines, cleanupMs: 500 } })
    const before = performance.now()
    const writing = put(hasty, { key: freshKey(), content: LARGE })
    await expect(writing).rejects.toMatchObject({ cause: { name: 'AccessDenied' } })
    expect(performance.now() - before).toBeLessThan(1500)
  })

  it('can land after its abort, and remove then takes it away (E13)', async () => {
    const key = freshKey()
    const caller = new AbortController()
    const [sent, landing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    s3.inject('PutObject', async (apply) => {
      sent.resolve()
      await landing.promise
      return apply()
    })
    const writing = put(store, { key, content: SMALL, signal: caller.signal })
    await sent.promise
    caller.abort()
    await expect(writing).rejects.toMatchObject({ code: 'unavailable' })
    landing.resolve()
    await expect.poll(() => s3.objects.size).toBe(1)
    await store.remove({ key, signal: never() })
    expect(s3.objects.size).toBe(0)
  })

  it('asks nothing of the store when its body fails before the first part is full', async () => {
    const body = Readable.from(failing())
    await expect(put(store, { key: freshKey(), body })).rejects.toThrow('broken off')
    expect(s3.calls).toEqual([])
  })

  it('sends larger parts when ten thousand of the usual size would not do (E22)', async () => {
    const sizes: number[] = []
    const spy: Fault = (apply, _signal, { body }) => {
      if (Array.isArray(body)) sizes.push(Buffer.concat(body as Uint8Array[]).byteLength)
      return apply()
    }
    s3.inject('UploadPart', spy, spy)
    const content = Buffer.alloc(7_000_001)
    const expectedSize = 70_000_000_000
    const body = Readable.from([content])
    await store.put({ key: freshKey(), body, expectedSize, signal: never() })
    expect(sizes).toEqual([7_000_000, 1])
  })

  it('reads no more than its queue holds when the store is slow', async () => {
    const caller = new AbortController()
    s3.inject('UploadPart', hang, hang, hang, hang)
    let given = 0
    const body = new Readable({
      read() {
        given += 65_536
        this.push(Buffer.alloc(65_536))
      },
    })
    const writing = put(store, { key: freshKey(), body, signal: caller.signal })
    await expect.poll(() => s3.calls.filter((call) => call === 'UploadPart')).toHaveLength(4)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(given).toBeLessThan(4 * PART_SIZE + 512 * 1024)
    caller.abort()
    await expect(writing).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('signs parts where the store refuses to check them, or does not answer that it will', async () => {
    const requests: FakeRequest[] = []
    const spy: Fault = (apply, _signal, request) => {
      requests.push(request)
      return apply()
    }
    for (const checksums of ['ignored', 'refused', 'refused', 'checked'] as const) {
      s3.checksums = checksums
      s3.inject('UploadPart', spy, spy, spy)
      await put(store, { key: freshKey(), content: LARGE })
    }
    // Refused once, it is not asked again.
    expect(s3.calls.filter((call) => call === 'CreateMultipartUpload')).toHaveLength(5)
    const signed = requests.map(({ headers }) => headers['x-amz-content-sha256'])
    expect(signed).toHaveLength(12)
    expect(signed).not.toContain('UNSIGNED-PAYLOAD')
  })

  it('asks again for checks after a refusal that does not say that the store has none, and tells of it', async () => {
    s3.checksums = 'checked'
    const told: unknown[] = []
    const telling = createS3Store({ ...s3.options(), warn: (cause) => told.push(cause) })
    s3.inject('CreateMultipartUpload', refuse(400, 'BadRequest'))
    expect(await signaturesOf(telling)).not.toContain('UNSIGNED-PAYLOAD')
    expect(told).toMatchObject([{ name: 'BadRequest' }])
    expect(new Set(await signaturesOf(telling))).toEqual(new Set(['UNSIGNED-PAYLOAD']))
    expect(told).toHaveLength(1)
    await telling.close()
  })

  it.each([
    [501, 'NotImplemented'],
    [501, 'Whatever'],
    [400, 'InvalidRequest'],
    [400, 'InvalidArgument'],
  ])('asks a store for no checks for 10 minutes that has none: %i %s', async (status, code) => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const told: unknown[] = []
    const telling = createS3Store({ ...s3.options(), warn: (cause) => told.push(cause) })
    const creates = (): number => s3.calls.filter((call) => call === 'CreateMultipartUpload').length
    s3.inject('CreateMultipartUpload', refuse(status, code))
    s3.checksums = 'checked'
    for (const [waitMs, signed, calls] of [
      [0, true, 2],
      [599_000, true, 1],
      [2_000, false, 1],
    ] as const) {
      vi.advanceTimersByTime(waitMs)
      const before = creates()
      const signatures = await signaturesOf(telling)
      expect(signatures.includes('UNSIGNED-PAYLOAD')).toBe(!signed)
      expect(creates() - before).toBe(calls)
    }
    expect(told).toMatchObject([{ name: code }])
    await telling.close()
  })

  it('believes no refusal of checks where it is refused without them too', async () => {
    s3.checksums = 'checked'
    s3.inject('CreateMultipartUpload', refuse(400, 'InvalidRequest'), refuse(400, 'InvalidRequest'))
    const writing = put(store, { key: freshKey(), content: LARGE })
    await expect(writing).rejects.toMatchObject({ code: 'unavailable' })
    expect(new Set(await signaturesOf(store))).toEqual(new Set(['UNSIGNED-PAYLOAD']))
  })

  /** Puts an object of three parts, and returns how the content of each was signed. */
  async function signaturesOf(subject: ObjectStore): Promise<readonly (string | undefined)[]> {
    const signatures: (string | undefined)[] = []
    const spy: Fault = (apply, _signal, { headers }) => {
      signatures.push(headers['x-amz-content-sha256'])
      return apply()
    }
    s3.inject('UploadPart', spy, spy, spy)
    await put(subject, { key: freshKey(), content: LARGE })
    expect(signatures).toHaveLength(3)
    return signatures
  }

  it('sends the checksum of each part where the store checks it', async () => {
    s3.checksums = 'checked'
    const sums: unknown[] = []
    const spy: Fault = (apply, _signal, { headers, body }) => {
      expect(headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD')
      const sum = Buffer.alloc(4)
      sum.writeUInt32BE(crc32(Buffer.concat(body as Uint8Array[])))
      sums.push([headers['x-amz-checksum-crc32'], sum.toString('base64')])
      return apply()
    }
    let completed = ''
    s3.inject('UploadPart', spy, spy, spy)
    s3.inject('CompleteMultipartUpload', (apply, _signal, { body }) => {
      completed = String(body)
      return apply()
    })
    await put(store, { key: freshKey(), content: LARGE })
    expect(sums).toHaveLength(3)
    for (const [sent, sum] of sums as [string, string][]) {
      expect(sent).toBe(sum)
      expect(completed).toContain(`<ChecksumCRC32>${sum}</ChecksumCRC32>`)
    }
  })

  it('asks for the size only where the tag does not say that the content is there', async () => {
    await put(store, { key: freshKey(), content: SMALL.subarray(0, 65_536) })
    expect(s3.calls).toEqual(['PutObject'])
    s3.inject('PutObject', (apply) => ({ ...apply(), headers: { etag: '"of-something-else"' } }))
    await put(store, { key: freshKey(), content: SMALL.subarray(0, 65_536) })
    await put(store, { key: freshKey(), content: SMALL })
    expect(s3.calls.slice(1)).toEqual(['PutObject', 'HeadObject', 'PutObject', 'HeadObject'])
  })

  it('sends the metadata', async () => {
    const body = Readable.from([SMALL])
    await store.put({ key: freshKey(), body, metadata: { name: 'a%20b' }, signal: never() })
    expect([...s3.objects.values()].map(({ metadata }) => metadata)).toEqual([{ name: 'a%20b' }])
  })
})

describe('open and head', () => {
  it('find no object where the store says that there is none (E19)', async () => {
    const named = { key: freshKey(), signal: never() }
    await expect(store.open(named)).resolves.toBeUndefined()
    await expect(store.head(named)).resolves.toBeUndefined()
  })

  it('reject when the bucket is missing (E15)', async () => {
    s3.hasBucket = false
    const named = { key: freshKey(), signal: never() }
    await expect(store.open(named)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.head(named)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it.each([hang, ignore])('reject when the store does not answer (E04)', async (fault) => {
    const hasty = createS3Store({ ...s3.options(), deadlines: SHORT })
    const named = { key: freshKey(), signal: never() }
    s3.inject('GetObject', fault)
    s3.inject('HeadObject', fault)
    await expect(hasty.open(named)).rejects.toMatchObject(TIMED_OUT)
    await expect(hasty.head(named)).rejects.toMatchObject(TIMED_OUT)
  })

  it('learn the time of the store from a refusal without a body (E16)', async () => {
    const key = freshKey()
    await put(store, { key, content: SMALL })
    s3.inject('HeadObject', () => {
      return answer(403, { date: new Date(Date.now() + 20 * 60_000).toUTCString() })
    })
    expect(await store.head({ key, signal: never() })).toMatchObject({ size: SMALL.length })
  })

  it('reject when the store does not keep to the range', async () => {
    const key = freshKey()
    await put(store, { key, content: SMALL })
    const whole = { 'content-length': String(SMALL.length) }
    s3.inject('GetObject', () => ({
      statusCode: 200,
      headers: whole,
      body: Readable.from([SMALL]),
    }))
    const opening = store.open({ key, range: { first: 1, last: 2 }, signal: never() })
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('the body of an opened object', () => {
  const contents: readonly [string, () => Readable][] = [
    ['ends early (E18, E20)', () => Readable.from([SMALL.subarray(1)])],
    ['goes on too long (E18)', () => Readable.from([SMALL, SMALL])],
    ['breaks off (E20)', () => Readable.from(failing())],
    ['falls silent (E04)', () => stalledBody(100).body],
  ]

  it.each(contents)('fails when what the store sends %s', async (_name, content) => {
    const key = freshKey()
    const headers = { 'content-length': String(SMALL.length) }
    const sent = content()
    s3.inject('GetObject', () => ({ statusCode: 200, headers, body: sent }))
    const opened = await store.open({ key, signal: never() })
    await expect(bytesOf(opened?.body)).rejects.toMatchObject({ code: 'unavailable' })
    expect(sent.destroyed).toBe(true)
  })

  it('waits for a slow reader longer than it would wait for the store', async () => {
    const key = freshKey()
    await put(store, { key, content: LARGE })
    const opened = await store.open({ key, signal: never() })
    const chunks: Buffer[] = []
    for await (const chunk of streamOf(opened)) {
      if (chunks.length === 0) await new Promise((resolve) => setTimeout(resolve, 800))
      if (chunk instanceof Buffer) chunks.push(chunk)
    }
    expect(digest(Buffer.concat(chunks))).toBe(digest(LARGE))
  })

  it('lets go of the store at once when it is destroyed while the store is silent', async () => {
    const sent = stalledBody(100).body
    const headers = { 'content-length': '1000' }
    s3.inject('GetObject', () => ({ statusCode: 200, headers, body: sent }))
    const opened = await store.open({ key: freshKey(), signal: never() })
    const chunks = streamOf(opened)[Symbol.asyncIterator]()
    await chunks.next()
    streamOf(opened).destroy()
    expect(sent.destroyed).toBe(true)
  })

  it('survives a failure of the store before the first read, and then reports it', async () => {
    const sent = stalledBody(0).body
    const headers = { 'content-length': '1000' }
    s3.inject('GetObject', () => ({ statusCode: 200, headers, body: sent }))
    const opened = await store.open({ key: freshKey(), signal: never() })
    const failure = new Error('socket hang up')
    sent.destroy(failure)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await expect(bytesOf(opened?.body)).rejects.toMatchObject({ cause: failure })
  })
})

describe('remove, list and prepare', () => {
  it('remove aborts all uploads of the key, page after page, and no other', async () => {
    const key = freshKey()
    const other = `${key}-longer`
    for (const [id, name] of [
      ['a', key],
      ['b', key],
      ['c', other],
    ] as const) {
      s3.uploads.set(id, { key: name, metadata: {}, parts: new Map() })
    }
    await store.remove({ key, signal: never() })
    expect([...s3.uploads.keys()]).toEqual(['c'])
  })

  it('remove rejects when the store confirms what it has not done', async () => {
    const key = freshKey()
    await put(store, { key, content: SMALL })
    s3.inject('DeleteObject', () => answer(204))
    const removing = store.remove({ key, signal: never() })
    await expect(removing).rejects.toMatchObject({ code: 'unavailable' })
    await store.remove({ key, signal: never() })
    expect(s3.objects.size).toBe(0)
  })

  it('remove rejects when an upload may be left', async () => {
    const key = freshKey()
    s3.uploads.set('a', { key, metadata: {}, parts: new Map() })
    s3.inject('AbortMultipartUpload', DENIED)
    const removing = store.remove({ key, signal: never() })
    await expect(removing).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('list rejects instead of ending when it is cut off', async () => {
    s3.inject(
      'GetBucket',
      say('<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'),
    )
    const listing = store.list({ prefix: 'users/', signal: never() })[Symbol.asyncIterator]().next()
    await expect(listing).rejects.toMatchObject({ code: 'unavailable' })
  })

  it.each([501, 400])(
    'createIdentity does without a condition where the server refuses it (%s)',
    async (status) => {
      const name = status === 501 ? 'NotImplemented' : 'InvalidArgument'
      s3.inject('PutObject', refuse(status, name))
      const identity = randomUUID()
      expect(await store.createIdentity(identity, never())).toBe(identity)
      expect(s3.calls).toEqual(['PutObject', 'PutObject', 'GetObject'])
    },
  )

  it('createIdentity finds its own when the answer is lost', async () => {
    s3.inject('PutObject', loseAnswer)
    const identity = randomUUID()
    expect(await store.createIdentity(identity, never())).toBe(identity)
  })

  it('createIdentity rejects when it is refused, and leaves none', async () => {
    s3.inject('PutObject', DENIED)
    await expect(store.createIdentity(randomUUID(), never())).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(await store.readIdentity(never())).toBeUndefined()
  })

  it('readIdentity reads no object that is too large to hold one', async () => {
    let bytes = 0
    const body = new Readable({
      read() {
        bytes += 65_536
        if (bytes > 1e8) this.destroy(new Error('It was read.'))
        else this.push(Buffer.alloc(65_536))
      },
    })
    s3.inject('GetObject', () => ({
      ...answer(200, { 'content-length': `${2 ** 40}` }),
      body,
    }))
    expect(await store.readIdentity(never())).toBeUndefined()
    expect(body.destroyed).toBe(true)
    expect(bytes).toBeLessThan(1_000_000)
  })

  it('prepare makes a missing bucket, also when another instance is faster', async () => {
    s3.hasBucket = false
    s3.inject('HeadBucket', () => answer(404), refuse(404, 'NoSuchBucket'))
    await Promise.all([store.prepare(never()), store.prepare(never())])
    expect(s3.hasBucket).toBe(true)
  })

  it.each([403, 500])(
    'prepare says so when the bucket may not be used (%s, E15)',
    async (status) => {
      s3.inject('HeadBucket', ...always(() => answer(status)))
      await expect(store.prepare(never())).rejects.toMatchObject({ code: 'unavailable' })
      expect(s3.calls).not.toContain('CreateBucket')
    },
  )
})

const SHORT = { callMs: 300, putMs: 300, partMs: 300, completeMs: 300, idleMs: 300, cleanupMs: 500 }

const TIMED_OUT = { code: 'unavailable', cause: { name: 'TimeoutError' } }

function always(fault: Fault): readonly Fault[] {
  return Array.from({ length: 20 }, () => fault)
}

function* failing(): Generator<Buffer, void> {
  yield SMALL.subarray(0, 100)
  throw new Error('broken off')
}
