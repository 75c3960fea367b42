import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { detachBuffer } from '../../../src/core/objects/object-store.ts'
import { FIRST_BYTES } from '../../../src/core/memory/body-memory.ts'
import { countingMemory } from '../../support/upload-memory.ts'
import { BufferPool } from '../../../src/object-store/buffer-pool.ts'
import {
  type GatherOptions,
  gatherParts,
  joinContents,
  PartBuffer,
} from '../../../src/object-store/s3/parts.ts'

const PART = 10

const PLAIN = new Uint8Array()

function gather(
  chunks: readonly Uint8Array[],
  { partSize = PART, pool = new BufferPool(), ...options }: Partial<GatherOptions> = {},
) {
  return gatherParts(bytesOf(chunks), { partSize, pool, ...options })
}

/** Chunks as they come on a connection, each with memory of its own. */
function chunksOf(lengths: readonly number[]): readonly Uint8Array[] {
  return lengths.map((length) => new Uint8Array(randomBytes(length)))
}

describe('gathering parts', () => {
  it.each([
    { chunks: [], parts: [''] },
    { chunks: ['abc'], parts: ['abc'] },
    { chunks: ['01234', '56789'], parts: ['0123456789'] },
    { chunks: ['01234', '56789', 'a'], parts: ['0123456789', 'a'] },
    { chunks: ['01234567', '89abc', 'de'], parts: ['0123456789', 'abcde'] },
    { chunks: ['0123456789abcdefghijklmno'], parts: ['0123456789', 'abcdefghij', 'klmno'] },
  ])('makes $parts of $chunks', async ({ chunks, parts }) => {
    const gathered = await Array.fromAsync(gather(chunks.map((text) => Buffer.from(text))))
    expect(gathered.map(({ content }) => Buffer.concat(content.chunks).toString())).toEqual(parts)
    expect(gathered.map(({ partNumber }) => partNumber)).toEqual(parts.map((_, at) => at + 1))
    const last = gathered.map(({ isLast }) => isLast)
    expect(last).toEqual(parts.map((_, at) => at === parts.length - 1))
  })

  it('puts no byte of the next part into the memory of one', async () => {
    const partSize = 2 ** 20
    const chunks = Array.from({ length: 5 }, () => randomBytes(partSize / 2 + 1))
    const gathered = await Array.fromAsync(gather(chunks, { partSize }))
    const memory = gathered.flatMap(({ content }) => [
      ...new Set(content.chunks.map((it) => it.buffer)),
    ])
    expect(gathered).toHaveLength(3)
    expect(new Set(memory).size).toBe(memory.length)
  })

  it('keeps what came of a few bytes as it is', async () => {
    const chunk = randomBytes(4096)
    const [part] = await Array.fromAsync(gather([chunk], { partSize: 2 ** 20 }))
    expect(part?.content.chunks[0]).toBe(chunk)
  })

  it('holds little more than was sent, however small the chunks are', async () => {
    const chunks = Array.from({ length: 10_000 }, () => randomBytes(1))
    const [part] = await Array.fromAsync(gather(chunks, { partSize: 2 ** 20 }))
    expect(part?.content.chunks.length).toBeLessThanOrEqual(16)
    expect(Buffer.concat(part?.content.chunks ?? []).equals(Buffer.concat(chunks))).toBe(true)
  })

  it('hands back a chunk that was copied', async () => {
    const chunks = chunksOf([60_000, 60_000, 60_000])
    const content = Buffer.concat(chunks)
    const options = { partSize: 2 ** 20, release: detachBuffer }
    const [part] = await Array.fromAsync(gather(chunks, options))
    expect(Buffer.concat(part?.content.chunks ?? []).equals(content)).toBe(true)
    // The first was waiting for a second when it came.
    expect(chunks.map(({ byteLength }) => byteLength)).toEqual([60_000, 0, 0])
  })

  it('hands back no chunk to a caller who does not free it, and frees none that has its memory from others', async () => {
    const chunks = chunksOf([60_000, 60_000])
    await Array.fromAsync(gather(chunks, { partSize: 2 ** 20 }))
    const [whole] = chunksOf([200_000])
    const views = [0, 100_000].map((from) => whole?.subarray(from, from + 100_000) ?? PLAIN)
    await Array.fromAsync(gather(views, { partSize: 2 ** 20, release: detachBuffer }))
    const lengths = [...chunks, ...views].map(({ byteLength }) => byteLength)
    expect(lengths).toEqual([60_000, 60_000, 100_000, 100_000])
  })

  it('makes every part of the bytes as they came, in memory that is used again (property)', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 20 })
    const partSizes = fc.integer({ min: 1000, max: 700_000 })
    await fc.assert(
      fc.asyncProperty(sizes, partSizes, async (lengths, partSize) => {
        const pool = new BufferPool()
        const chunks = chunksOf(lengths)
        const content = Buffer.concat(chunks)
        const sent: Buffer[] = []
        const options = { partSize, pool, release: detachBuffer }
        for await (const { content } of gather(chunks, options)) {
          sent.push(Buffer.concat(content.chunks))
          expect(content.byteLength).toBe(sent.at(-1)?.byteLength)
          content.giveBack()
        }
        expect(Buffer.concat(sent).equals(content)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

describe('the memory of gathered parts', () => {
  const partSize = 2 ** 20

  it('is acquired part by part, when more than the first bytes come', async () => {
    const memory = countingMemory()
    const { acquire } = memory
    const acquired: number[] = []
    const chunks = chunksOf([FIRST_BYTES, 1, partSize, FIRST_BYTES])
    for await (const { content } of gather(chunks, { partSize, acquire })) {
      acquired.push(...memory.acquired.splice(0))
      content.giveBack()
    }
    expect(acquired).toEqual([partSize, partSize])
    expect(memory.held).toBe(0)
  })

  it('is no more than the content may need', async () => {
    const memory = countingMemory()
    const { acquire } = memory
    const expectedSize = partSize + 100_000
    await Array.fromAsync(gather(chunksOf([expectedSize]), { partSize, acquire, expectedSize }))
    expect(memory.acquired).toEqual([partSize, 100_000])
  })

  it('never keeps a complete part waiting for that of the next', async () => {
    const acquire = (bytes: number) =>
      bytes === partSize ? Promise.resolve({ release: () => undefined }) : forever
    const expectedSize = partSize + 100_000
    const parts = gather(chunksOf([expectedSize]), { partSize, acquire, expectedSize })
    expect((await parts.next()).value?.content.byteLength).toBe(partSize)
  })

  it('ends the content if it is refused, before the chunk that needed it', async () => {
    const acquire = async (): Promise<undefined> => undefined
    const chunks = chunksOf([100, FIRST_BYTES])
    const parts = await Array.fromAsync(gather(chunks, { partSize, acquire }))
    expect(parts).toMatchObject([{ isLast: true, content: { byteLength: 100 } }])
  })
})

const forever = new Promise<undefined>(() => undefined)

describe('gathering parts from the middle of a content', () => {
  it('fills the part that was begun, and numbers on', async () => {
    const first = { partNumber: 3, bytes: 4, heldBefore: 6 }
    const gathered = await Array.fromAsync(gather([Buffer.from('0123456789abcdefg')], { first }))
    expect(gathered.map(({ content }) => Buffer.concat(content.chunks).toString())).toEqual([
      '0123',
      '456789abcd',
      'efg',
    ])
    expect(gathered.map(({ partNumber }) => partNumber)).toEqual([3, 4, 5])
  })

  it('hands back no chunk of which the first part, being small, has kept some bytes', async () => {
    const chunks = chunksOf([100_000, 60_000])
    const content = Buffer.concat(chunks)
    const first = { partNumber: 1, bytes: 10, heldBefore: 0 }
    const options = { partSize: 2 ** 20, first, release: detachBuffer }
    const gathered = await Array.fromAsync(gather(chunks, options))
    const kept = gathered.flatMap(({ content }) => content.chunks)
    expect(Buffer.concat(kept).equals(content)).toBe(true)
  })

  it('joins contents without a copy, and gives all of them back', () => {
    const released: string[] = []
    const contents = ['one', 'two'].map((text) => {
      const content = new PartBuffer(new BufferPool())
      content.permit = { release: () => void released.push(text) }
      content.add(Buffer.from(text))
      return content
    })
    const joined = joinContents(contents)
    expect(joined.byteLength).toBe(6)
    expect(Buffer.concat(joined.chunks).toString()).toBe('onetwo')
    joined.giveBack()
    expect(released).toEqual(['one', 'two'])
  })
})

describe('the buffer pool', () => {
  it('are used again, and are never two at once', () => {
    const pool = new BufferPool()
    const [one, two] = [pool.take(), pool.take()]
    expect(one).not.toBe(two)
    pool.giveBack(one)
    expect(pool.take()).toBe(one)
    expect(pool.take()).not.toBe(one)
  })

  it('buffers that are not used for a while go back to the system', ({ onTestFinished }) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const pool = new BufferPool()
    const buffer = pool.take()
    pool.giveBack(buffer)
    vi.advanceTimersByTime(11_000)
    expect(pool.take()).not.toBe(buffer)
  })
})

async function* bytesOf(
  chunks: readonly Uint8Array[] | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield* chunks
}
