import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chunked, never, read } from '../../support/objects.ts'
import { heldBody, RecordedUpload } from '../../support/recorded-upload.ts'
import { detachBuffer } from '../../../src/core/objects/object-store.ts'
import { countingMemory } from '../../support/upload-memory.ts'
import { testBreaks, testTakeovers } from './append-breaks.ts'
import {
  type AppendStoreUnderTest,
  broken,
  type Current,
  expectFinished,
  open,
  removeTails,
} from './append-subject.ts'

/** What the port promises (`core/objects/append-store.ts`), as tests that every adapter has to pass. */
export function appendStoreContract(
  name: string,
  createStore: () => Promise<AppendStoreUnderTest>,
): void {
  describe(`${name} keeps the contract of appends`, () => {
    let subject: AppendStoreUnderTest
    beforeAll(async () => {
      subject = await createStore()
    })
    afterAll(() => subject.dispose())
    const current = () => subject
    describe('append and finish', () => {
      testContents(current)
    })
    describe('a body that breaks off', () => {
      testBreaks(current)
    })
    describe('an append that takes over', () => {
      testTakeovers(current)
    })
    describe('finish and remove', () => {
      testEnds(current)
    })
  })
}

type Sizes = (partSize: number) => number

const SIZES: Readonly<Record<string, Sizes>> = {
  nothing: () => 0,
  'one byte': () => 1,
  'one byte less than a part': (partSize) => partSize - 1,
  'a part': (partSize) => partSize,
  'one byte more than a part': (partSize) => partSize + 1,
  'three parts and 5 bytes': (partSize) => 3 * partSize + 5,
}

const OFFSETS: Readonly<Record<string, Sizes>> = {
  'at once': () => 0,
  'after 1 byte': () => 1,
  'after one byte less than a part': (partSize) => partSize - 1,
  'after a part': (partSize) => partSize,
}

function testContents(current: Current): void {
  it.each(Object.entries(SIZES))('make an object of %s, from any offset', async (_name, sizeOf) => {
    const { partSize } = current()
    const content = randomBytes(sizeOf(partSize))
    const offsets = Object.values(OFFSETS).map((offsetOf) => offsetOf(partSize))
    for (const offset of new Set(offsets.filter((at) => at === 0 || at < content.length))) {
      const upload = open(current, content.length)
      if (offset > 0) await upload.append(content.subarray(0, offset))
      expect(upload.offset).toBe(offset)
      const appended = await upload.append(content.subarray(offset))
      expect(appended?.durable.offset).toBe(content.length)
      expect(appended).not.toHaveProperty('failure')
      await expectFinished(current(), upload, content)
    }
  })

  it('take a length that is declared late, or when all bytes are there', async () => {
    const { partSize } = current()
    const content = randomBytes(partSize + 7)
    for (const declaredAt of [0, 3, partSize, partSize + 7]) {
      const upload = open(current, undefined)
      await upload.append(content.subarray(0, declaredAt))
      upload.length = content.length
      await upload.append(content.subarray(declaredAt))
      await expectFinished(current(), upload, content)
    }
  })

  it('take an empty content, however late that is known, and again', async () => {
    const nothing = randomBytes(0)
    for (const isDiscarded of [false, true]) {
      for (const length of [undefined, 0]) {
        const upload = open(current, length)
        await upload.append(nothing, { isDiscarded })
        upload.length = 0
        upload.crash()
        await upload.append(nothing)
        await expectFinished(current(), upload, nothing)
      }
    }
  })

  it('take an empty content after bytes that were discarded', async () => {
    const { partSize } = current()
    for (const size of [1, partSize + 1]) {
      const upload = open(current, undefined)
      await upload.append(randomBytes(size), { isDiscarded: 'pieces' })
      upload.length = 0
      await upload.append(randomBytes(0))
      await expectFinished(current(), upload, randomBytes(0))
    }
  })

  it('take an empty append anywhere', async () => {
    const { partSize } = current()
    const content = randomBytes(partSize + 1)
    const upload = open(current, content.length)
    for (const end of [0, 1, 1, partSize, partSize, partSize + 1, partSize + 1]) {
      await upload.append(content.subarray(upload.offset, end))
      expect(upload.offset).toBe(end)
    }
    await expectFinished(current(), upload, content)
  })

  it('take 200 appends of 1 to 9 KiB', async () => {
    const sizes = Array.from({ length: 200 }, (_, at) => 1024 * (1 + (at % 9)) + (at % 7))
    const content = randomBytes(sizes.reduce((sum, size) => sum + size, 0))
    const upload = open(current, content.length)
    for (const size of sizes) {
      await upload.append(content.subarray(upload.offset, upload.offset + size))
    }
    await expectFinished(current(), upload, content)
  })

  it('tell of a growing prefix, which a later append can go on from', async () => {
    const { partSize } = current()
    const content = randomBytes(2 * partSize + 5)
    const upload = open(current, content.length)
    const offsets: number[] = []
    const onDurable = ({ offset }: { readonly offset: number }): void => void offsets.push(offset)
    await upload.append(content.subarray(0, -1), { onDurable })
    expect(offsets.toSorted((a, b) => a - b)).toEqual(offsets)
    expect(offsets.at(-1)).toBe(content.length - 1)
    await upload.append(content.subarray(-1))
    await expectFinished(current(), upload, content)
  })

  it('take bytes again of which nothing was recorded, and others in their place', async () => {
    const { partSize } = current()
    const content = randomBytes(partSize + 7)
    for (const [offset, size] of [
      [0, 10],
      [10, 10],
      [10, partSize],
      [0, partSize + 7],
      [partSize, partSize + 7],
    ] as const) {
      const upload = open(current, size)
      await upload.append(content.subarray(0, offset))
      await upload.append(randomBytes(size - offset), { isDiscarded: true })
      expect(upload.offset).toBe(offset)
      await upload.append(content.subarray(offset, size))
      await expectFinished(current(), upload, content.subarray(0, size))
    }
  })

  it('keep the metadata', async () => {
    const { store, partSize } = current()
    for (const size of [7, partSize + 7]) {
      const metadata = { name: 'r%C3%A9sum%C3%A9.pdf' }
      const upload = new RecordedUpload({ store, partSize, length: size, metadata })
      await upload.append(randomBytes(3))
      await upload.append(randomBytes(size - 3))
      await upload.finish()
      expect(await store.head({ key: upload.key, signal: never() })).toEqual({ size, metadata })
    }
  })

  it('give back all memory that they were lent, and each chunk that they are done with', async () => {
    const { partSize } = current()
    const chunks = Array.from({ length: 30 }, () => new Uint8Array(randomBytes(partSize / 10)))
    const content = Buffer.concat(chunks)
    const memory = countingMemory()
    const lent = { memory, release: detachBuffer }
    const upload = open(current, content.length)
    await upload.append(content.subarray(0, 100_000), lent)
    await upload.append(Readable.from([content.subarray(100_000, 150_000)]), lent)
    const freed = chunks.map((chunk) => new Uint8Array(chunk))
    const rest = Buffer.concat(freed).subarray(150_000)
    const body = Readable.from(
      (function* () {
        for (let at = 0; at < rest.length; at += 61_000) {
          yield new Uint8Array(rest.subarray(at, at + 61_000))
        }
      })(),
    )
    await upload.append(body, lent)
    expect(memory.held).toBe(0)
    await expectFinished(current(), upload, content)
  })

  it('take a content in any appends (property)', async () => {
    const { partSize } = current()
    // On a server a part is so large that a few splits have to do.
    const isSmall = partSize < 2 ** 20
    const appends = fc.array(
      fc.record({
        parts: fc.integer({ min: 0, max: isSmall ? 2 : 1 }),
        bytes: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: isSmall ? 3000 : 400_000 })),
        ends: fc.constantFrom('well', 'broken', 'crashed', 'stalled'),
        isDeclared: fc.boolean(),
      }),
      { minLength: 1, maxLength: isSmall ? 60 : 8 },
    )
    await fc.assert(
      fc.asyncProperty(appends, fc.boolean(), async (steps, isDeferred) => {
        const sizes = steps.map(({ parts, bytes }) => parts * partSize + bytes)
        const content = randomBytes(sizes.reduce((sum, size) => sum + size, 0))
        const upload = open(current, isDeferred ? undefined : content.length)
        const stalled: { readonly body: Readable; readonly appending: Promise<unknown> }[] = []
        for (const [at, { ends, isDeclared }] of steps.entries()) {
          if (isDeclared) upload.length = content.length
          const piece = content.subarray(upload.offset, upload.offset + (sizes[at] ?? 0))
          if (ends === 'broken') await upload.append(broken(piece))
          else if (ends === 'crashed') await crashedAppend(upload, piece)
          // Nobody may go on with what can have become the object itself.
          else if (ends === 'well' || piece.length === content.length) await upload.append(piece)
          else stalled.push(await stalledAppend(upload, piece))
        }
        upload.length = content.length
        await upload.append(content.subarray(upload.offset))
        for (const { body } of stalled) body.destroy(new Error('gone at last'))
        await Promise.allSettled(stalled.map(({ appending }) => appending))
        await expectFinished(current(), upload, content)
      }),
      { numRuns: isSmall ? 25 : 3 },
    )
  }, 120_000)
}

/** Part of it may be recorded before its instance dies. */
async function crashedAppend(upload: RecordedUpload, piece: Buffer): Promise<void> {
  const appending = upload.append(piece, { onDurable: () => upload.crash() })
  await appending
  upload.crash()
}

/** It has read all, and waits for more until others have gone on from where it is. */
async function stalledAppend(upload: RecordedUpload, piece: Buffer) {
  const { body, give, drained } = heldBody()
  give(piece)
  const appending = upload.append(body, { bodySize: piece.length })
  appending.catch(() => undefined)
  await drained()
  return { body, appending }
}

function testEnds(current: Current): void {
  it('can be repeated, also at the same time', async () => {
    const { store, partSize } = current()
    for (const size of [10, partSize + 10]) {
      const content = randomBytes(size)
      const upload = open(current, size)
      await upload.append(content.subarray(0, 5))
      await upload.append(content.subarray(5))
      await Promise.all([upload.finish(), upload.finish()])
      await expectFinished(current(), upload, content)
      await expect(upload.finish()).resolves.toEqual({ size })
      expect(await read(store, upload.key)).toMatchObject({ size })
    }
  })

  it('shows nothing of the content before it is finished', async () => {
    const { store, partSize } = current()
    const content = randomBytes(partSize + 10)
    const upload = open(current, content.length)
    await upload.append(content)
    await expect(store.head({ key: upload.key, signal: never() })).resolves.toBeUndefined()
    const listed = await Array.fromAsync(store.list({ prefix: 'users/', signal: never() }))
    expect(listed.map(({ key }) => key)).not.toContain(upload.key)
    await expectFinished(current(), upload, content)
  })

  it('leaves nothing of an upload, wherever it was', async () => {
    const subject = current()
    const { store, partSize } = subject
    for (const size of [0, 10, partSize + 10]) {
      const content = randomBytes(size)
      const upload = open(current, partSize + 11)
      await upload.append(content)
      const { body } = heldBody()
      const older = upload.append(body)
      await upload.append(randomBytes(1))
      body.destroy(new Error('gone at last'))
      await older.catch(() => undefined)
      await store.remove({ key: upload.key, signal: never() })
      expect(await subject.residue(upload.key)).toEqual([])
      await expect(store.head({ key: upload.key, signal: never() })).resolves.toBeUndefined()
      await removeTails(subject, upload)
    }
  })

  it('tell that all is stored which is recorded, before the finish and after', async () => {
    const { partSize } = current()
    for (const sizes of [[0], [7], [partSize], [3, 5], [partSize + 3, 5, partSize]]) {
      const content = randomBytes(sizes.reduce((sum, size) => sum + size, 0))
      const upload = open(current, content.length)
      expect(await upload.isStored()).toBe(true)
      for (const size of sizes) {
        await upload.append(content.subarray(upload.offset, upload.offset + size))
        expect(await upload.isStored()).toBe(true)
      }
      await upload.finish()
      expect(await upload.isStored()).toBe(true)
      await expectFinished(current(), upload, content)
    }
  })

  it('tell that a part is gone, or an object of the tail, or the finished object', async () => {
    const subject = current()
    const { store, partSize } = subject
    const parts = open(current, 3 * partSize)
    await parts.append(randomBytes(2 * partSize))
    await store.remove({ key: parts.key, signal: never() })
    expect(await parts.isStored()).toBe(false)

    const tail = open(current, 3 * partSize)
    await tail.append(randomBytes(partSize + 7))
    await tail.append(randomBytes(7))
    if (store.hasTails) await removeTails(subject, tail)
    else await store.remove({ key: tail.key, signal: never() })
    expect(await tail.isStored()).toBe(false)
    await store.remove({ key: tail.key, signal: never() })

    for (const size of [7, partSize + 7]) {
      const finished = open(current, size)
      await finished.append(randomBytes(size))
      await finished.finish()
      await store.remove({ key: finished.key, signal: never() })
      expect(await finished.isStored()).toBe(false)
    }
  })

  it('tell that pieces are not recorded which the offset covers', async () => {
    const { store, partSize } = current()
    const upload = open(current, 3 * partSize)
    await upload.append(randomBytes(partSize + 7))
    upload.offset += 1
    expect(await upload.isStored()).toBe(false)
    upload.offset -= 1
    upload.pieces = upload.pieces.slice(1)
    expect(await upload.isStored()).toBe(!store.hasTails)
    await store.remove({ key: upload.key, signal: never() })
    await removeTails(current(), upload)
  })

  it('find an upload lost whose parts are gone', async () => {
    const { store, partSize } = current()
    const content = randomBytes(2 * partSize + 10)
    const upload = open(current, content.length)
    await upload.append(content.subarray(0, partSize + 10))
    await store.remove({ key: upload.key, signal: never() })
    const body = chunked(content.subarray(partSize + 10))
    await expect(upload.append(body)).resolves.toBeUndefined()
    expect(body.destroyed).toBe(true)
    const sealed = open(current, content.length)
    await sealed.append(content)
    await store.remove({ key: sealed.key, signal: never() })
    await expect(sealed.finish()).resolves.toBeUndefined()
    await expect(store.head({ key: sealed.key, signal: never() })).resolves.toBeUndefined()
  })
}
