import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'
import { type Fault, hang, loseAnswer, refuse, reset } from '../../support/faults/s3-faults.ts'
import { chunked, digest, read } from '../../support/objects.ts'
import { heldBody, RecordedUpload } from '../../support/recorded-upload.ts'

const P = 100_000
const CONTENT = randomBytes(5 * P + 50)
const SMALL = CONTENT.subarray(0, 1000)

const BUSY = refuse(503, 'SlowDown')
const FORGOTTEN = refuse(404, 'NoSuchUpload')

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

describe('an append succeeds when', () => {
  it.each([
    ['a part is refused once (R16)', 'UploadPart', [BUSY]],
    ['the connection breaks in a part (E03)', 'UploadPart', [reset]],
    ['the answer of a part is lost', 'UploadPart', [loseAnswer]],
    ['the answer of Create is lost', 'CreateMultipartUpload', [loseAnswer]],
    ['the tail is refused once (R16)', 'PutObject', [BUSY]],
    ['all answers of the tail are lost', 'PutObject', [loseAnswer, loseAnswer, loseAnswer]],
    ['a node denies a tail that is there (R19)', 'GetObject', [refuse(404, 'NoSuchKey')]],
  ])('%s', async (_name, operation, faults) => {
    s3.inject(operation, ...faults)
    const upload = open(CONTENT.length)
    for (const end of [100, 2 * P + 100, CONTENT.length]) {
      await upload.append(CONTENT.subarray(upload.offset, end))
      expect(upload.offset).toBe(end)
    }
    await expectFinished(upload)
  })
})

describe('an append rejects with unavailable, and keeps what was durable, when', () => {
  it('a part is refused always (R16)', async () => {
    const upload = open(CONTENT.length)
    let isOver = false
    const third = forPart(3, BUSY)
    const fault: Fault = (apply, ...call) => (isOver ? apply() : third(apply, ...call))
    s3.inject('UploadPart', ...Array.from({ length: 20 }, () => fault))
    await expect(upload.append(CONTENT)).rejects.toMatchObject({ code: 'unavailable' })
    expect(upload.offset).toBe(2 * P)
    isOver = true
    await upload.append(CONTENT.subarray(upload.offset))
    await expectFinished(upload)
  })

  it('the tail is refused always (R16)', async () => {
    const upload = open(CONTENT.length)
    s3.inject('PutObject', BUSY, BUSY, BUSY)
    const appending = upload.append(CONTENT.subarray(0, P + 9))
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    expect(upload.offset).toBe(P)
    await upload.append(CONTENT.subarray(upload.offset))
    await expectFinished(upload)
  })

  it('the store confirms a tail that it holds a part of', async () => {
    const upload = open(CONTENT.length)
    s3.inject('PutObject', loseShort, loseShort, loseShort)
    const appending = upload.append(SMALL)
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    expect(upload.offset).toBe(0)
  })

  it('a part is never answered (R17)', async () => {
    const { deadlines, ...options } = s3.options()
    const hasty = createS3Store({ ...options, deadlines: { ...deadlines, partMs: 300 } })
    const upload = new RecordedUpload({ store: hasty, partSize: P, length: CONTENT.length })
    s3.inject('UploadPart', forPart(2, hang), forPart(2, hang))
    const timedOut = { code: 'unavailable', cause: { name: 'TimeoutError' } }
    await expect(upload.append(CONTENT)).rejects.toMatchObject(timedOut)
    expect(upload.offset).toBe(P)
    await upload.append(CONTENT.subarray(upload.offset))
    await expectFinished(upload)
  })

  it('a part fails while the body stalls, and destroys the body', async () => {
    const upload = open(CONTENT.length)
    s3.inject('UploadPart', refuse(403, 'AccessDenied'))
    const { body, give } = heldBody()
    give(CONTENT.subarray(0, P + 10))
    const denied = { code: 'unavailable', cause: { name: 'AccessDenied' } }
    await expect(upload.append(body)).rejects.toMatchObject(denied)
    expect(body.destroyed).toBe(true)
  })

  it('an object of the tail is missing, which is no reason to give the upload up (R19)', async () => {
    const upload = open(CONTENT.length)
    await upload.append(SMALL)
    const [tail] = [...s3.objects]
    s3.objects.clear()
    const appending = upload.append(CONTENT.subarray(1000))
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    if (tail !== undefined) s3.objects.set(...tail)
    await upload.append(CONTENT.subarray(1000))
    await expectFinished(upload)
  })

  it('the body goes beyond the length', async () => {
    for (const [length, offset] of [
      [10, 0],
      [10, 5],
      [P, 0],
      [P + 10, 10],
    ] as const) {
      const upload = open(length)
      await upload.append(CONTENT.subarray(0, offset))
      const body = chunked(CONTENT.subarray(offset, length + 1))
      await expect(upload.append(body)).rejects.toMatchObject({ code: 'unavailable' })
      expect(upload.offset).toBeLessThanOrEqual(length)
    }
  })
})

describe('an upload is lost when', () => {
  it('the store has forgotten its parts (R18)', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT.subarray(0, P + 10))
    s3.uploads.clear()
    await expect(upload.append(CONTENT.subarray(P + 10))).resolves.toBeUndefined()
    const sealed = open(CONTENT.length)
    await sealed.append(CONTENT)
    s3.uploads.clear()
    await expect(sealed.finish()).resolves.toBeUndefined()
  })

  it('an append that was fenced has sent other bytes for a part (R20)', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT)
    for (const { parts } of s3.uploads.values()) parts.set(2, randomBytes(P))
    await expect(upload.finish()).resolves.toBeUndefined()
    expect(s3.objects.size).toBe(0)
  })

  it('the object is of another size', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT)
    s3.uploads.clear()
    s3.objects.set(upload.key, { content: CONTENT.subarray(1), metadata: {} })
    await expect(upload.finish()).resolves.toBeUndefined()
  })
})

describe('an upload is not lost when', () => {
  it.each([
    ['a node that has not found the others denies it to an append', 'UploadPart', FORGOTTEN],
    ['such a node denies it to finish', 'CompleteMultipartUpload', FORGOTTEN],
    ['such a node denies a part', 'CompleteMultipartUpload', refuse(400, 'InvalidPart')],
  ])('%s', async (_name, operation, fault) => {
    const upload = open(CONTENT.length)
    const isFinish = operation.startsWith('Complete')
    await upload.append(CONTENT.subarray(0, isFinish ? CONTENT.length : P + 10))
    s3.inject(operation, fault)
    s3.inject('ListParts', FORGOTTEN)
    const rest = CONTENT.subarray(upload.offset)
    const call = isFinish ? upload.finish() : upload.append(rest)
    await expect(call).rejects.toMatchObject({ code: 'unavailable' })
    await upload.append(rest)
    await expectFinished(upload)
  })

  it('nobody can say whether it is there', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT.subarray(0, P + 10))
    s3.inject('UploadPart', FORGOTTEN)
    s3.inject('HeadObject', refuse(403, 'AccessDenied'))
    const appending = upload.append(CONTENT.subarray(P + 10))
    await expect(appending).rejects.toMatchObject({ cause: { name: 'NoSuchUpload' } })
  })

  it('another has finished it, and an append that was fenced comes late', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT.subarray(0, P + 10))
    const reached = Promise.withResolvers<void>()
    const finished = Promise.withResolvers<void>()
    s3.inject('UploadPart', async (apply) => {
      reached.resolve()
      await finished.promise
      return apply()
    })
    const older = upload.append(CONTENT.subarray(P + 10, 2 * P + 10))
    await reached.promise
    await upload.append(CONTENT.subarray(P + 10))
    await expectFinished(upload)
    finished.resolve()
    await expect(older).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('finish', () => {
  it.each([
    ['the answer of Complete is lost', [loseAnswer]],
    ['all answers of Complete are lost', [loseAnswer, reset, reset]],
    ['Complete is refused once', [BUSY]],
  ])('succeeds when %s', async (_name, faults) => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT)
    s3.inject('CompleteMultipartUpload', ...faults)
    await expectFinished(upload)
  })

  it('can be tried again when Complete is refused always, or its effect comes late', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT)
    s3.inject('CompleteMultipartUpload', BUSY, BUSY, BUSY)
    await expect(upload.finish()).rejects.toMatchObject({ code: 'unavailable' })
    await expectFinished(upload)
    await expect(upload.finish()).resolves.toEqual({ size: CONTENT.length })
    expect(await read(store, upload.key)).toMatchObject({ sha256: digest(CONTENT) })
  })

  it('never cuts off a completion, because MinIO could lose the parts (R05)', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT)
    const asked = Promise.withResolvers<AbortSignal>()
    const goOn = Promise.withResolvers<void>()
    s3.inject('CompleteMultipartUpload', async (apply, signal) => {
      asked.resolve(signal)
      await goOn.promise
      return apply()
    })
    const caller = new AbortController()
    const finishing = upload.finish(caller.signal)
    const signal = await asked.promise
    caller.abort(new Error('The caller leaves.'))
    await expect(finishing).rejects.toMatchObject({ code: 'unavailable' })
    expect(signal.aborted).toBe(false)
    goOn.resolve()
    await expectFinished(upload)
  })

  it('rejects when the store confirms an object that it has not', async () => {
    const upload = open(CONTENT.length)
    await upload.append(CONTENT)
    s3.inject('CompleteMultipartUpload', (apply) => {
      const answer = apply()
      s3.objects.clear()
      return answer
    })
    await expect(upload.finish()).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('ends an upload whose id was lost with its instance, also one that the store made twice', async () => {
    const upload = open(CONTENT.length)
    s3.inject('CreateMultipartUpload', loseAnswer, (apply) => {
      upload.crash()
      return apply()
    })
    await upload.append(CONTENT.subarray(0, 2 * P))
    expect(upload.offset).toBe(0)
    expect(s3.uploads.size).toBe(2)
    await upload.append(CONTENT)
    expect(s3.uploads.size).toBe(3)
    await expectFinished(upload)
  })

  it('ends the multipart upload that the store makes after the append was stopped', async () => {
    const reached = Promise.withResolvers<void>()
    const made = Promise.withResolvers<void>()
    s3.inject('CreateMultipartUpload', async (apply) => {
      const answer = apply()
      reached.resolve()
      await made.promise
      return answer
    })
    const upload = open(CONTENT.length)
    const stop = new AbortController()
    const appending = upload.append(CONTENT, { signal: stop.signal })
    await reached.promise
    stop.abort(new Error('taken over'))
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    expect(s3.uploads.size).toBe(1)
    made.resolve()
    await expect.poll(() => s3.uploads.size).toBe(0)
  })

  it('refuses a state that is not its own, as append does', async () => {
    const upload = open(CONTENT.length)
    for (const state of ['', '1', 'null', '{}']) {
      upload.storeState = state
      await expect(upload.finish()).rejects.toMatchObject({ code: 'unavailable' })
    }
    const body = chunked(SMALL)
    const claim = { key: upload.key, body, storeState: '', partSize: P, offset: 0, tail: [] }
    const rest = { length: undefined, tailKey: undefined, metadata: {} }
    const signal = AbortSignal.timeout(10_000)
    const told = { onDurable: () => undefined, onTail: () => undefined }
    const appending = store.append({ ...claim, ...rest, ...told, signal })
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    expect(body.destroyed).toBe(true)
  })
})

/** The fault for one part, by number; others go through. */
function forPart(number: number, fault: Fault): Fault {
  return (apply, signal, request) => {
    const isIts = request.query?.['partNumber'] === `${number}`
    return isIts ? fault(apply, signal, request) : apply()
  }
}

/** The object comes to be, but shorter than sent, and the connection breaks. */
const loseShort: Fault = (apply, _signal, request) => {
  apply()
  for (const [key, object] of s3.objects) {
    if (request.path.endsWith(key)) {
      s3.objects.set(key, { ...object, content: object.content.subarray(1) })
    }
  }
  return reset()
}
