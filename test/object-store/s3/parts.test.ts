import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { detachBuffer, type BodyMemory } from '../../../src/core/objects/object-store.ts'
import { BufferPool } from '../../../src/object-store/buffer-pool.ts'
import { type GatherOptions, gatherParts } from '../../../src/object-store/s3/parts.ts'

const PART = 10

const PLAIN = new Uint8Array()

/** A caller whose pieces nobody else reads. */
const FREEING: BodyMemory = { hold: bytesOf, release: () => undefined, detach: detachBuffer }

function gather(
  pieces: readonly Uint8Array[],
  { partSize = PART, blocks = new BufferPool(), ...options }: Partial<GatherOptions> = {},
) {
  return gatherParts(bytesOf(pieces), { partSize, blocks, ...options })
}

/** Chunks as they come on a connection, each with memory of its own. */
function chunksOf(lengths: readonly number[]): readonly Uint8Array[] {
  return lengths.map((length) => new Uint8Array(randomBytes(length)))
}

describe('gathering parts', () => {
  it.each([
    { pieces: [], parts: [''] },
    { pieces: ['abc'], parts: ['abc'] },
    { pieces: ['01234', '56789'], parts: ['0123456789'] },
    { pieces: ['01234', '56789', 'a'], parts: ['0123456789', 'a'] },
    { pieces: ['01234567', '89abc', 'de'], parts: ['0123456789', 'abcde'] },
    { pieces: ['0123456789abcdefghijklmno'], parts: ['0123456789', 'abcdefghij', 'klmno'] },
  ])('makes $parts of $pieces', async ({ pieces, parts }) => {
    const gathered = await Array.fromAsync(gather(pieces.map((text) => Buffer.from(text))))
    expect(gathered.map(({ content }) => Buffer.concat(content.pieces).toString())).toEqual(parts)
    expect(gathered.map(({ partNumber }) => partNumber)).toEqual(parts.map((_, at) => at + 1))
    const last = gathered.map(({ isLast }) => isLast)
    expect(last).toEqual(parts.map((_, at) => at === parts.length - 1))
  })

  it('puts no byte of the next part into the memory of one', async () => {
    const partSize = 2 ** 20
    const pieces = Array.from({ length: 5 }, () => randomBytes(partSize / 2 + 1))
    const gathered = await Array.fromAsync(gather(pieces, { partSize }))
    const memory = gathered.flatMap(({ content }) => [
      ...new Set(content.pieces.map((it) => it.buffer)),
    ])
    expect(gathered).toHaveLength(3)
    expect(new Set(memory).size).toBe(memory.length)
  })

  it('keeps what came of a few bytes as it is', async () => {
    const piece = randomBytes(4096)
    const [part] = await Array.fromAsync(gather([piece], { partSize: 2 ** 20 }))
    expect(part?.content.pieces[0]).toBe(piece)
  })

  it('holds little more than was sent, however small the pieces are', async () => {
    const pieces = Array.from({ length: 10_000 }, () => randomBytes(1))
    const [part] = await Array.fromAsync(gather(pieces, { partSize: 2 ** 20 }))
    expect(part?.content.pieces.length).toBeLessThanOrEqual(16)
    expect(Buffer.concat(part?.content.pieces ?? []).equals(Buffer.concat(pieces))).toBe(true)
  })

  it('hands back a chunk that was copied', async () => {
    const chunks = chunksOf([60_000, 60_000, 60_000])
    const content = Buffer.concat(chunks)
    const options = { partSize: 2 ** 20, memory: FREEING }
    const [part] = await Array.fromAsync(gather(chunks, options))
    expect(Buffer.concat(part?.content.pieces ?? []).equals(content)).toBe(true)
    // The first was waiting for a second when it came.
    expect(chunks.map(({ byteLength }) => byteLength)).toEqual([60_000, 0, 0])
  })

  it('hands back no chunk without a memory to take it, and frees none that has its memory from others', async () => {
    const chunks = chunksOf([60_000, 60_000])
    await Array.fromAsync(gather(chunks, { partSize: 2 ** 20 }))
    const [whole] = chunksOf([200_000])
    const views = [0, 100_000].map((from) => whole?.subarray(from, from + 100_000) ?? PLAIN)
    await Array.fromAsync(gather(views, { partSize: 2 ** 20, memory: FREEING }))
    const lengths = [...chunks, ...views].map(({ byteLength }) => byteLength)
    expect(lengths).toEqual([60_000, 60_000, 100_000, 100_000])
  })

  it('makes every part of the bytes as they came, in memory that is used again (property)', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 20 })
    const partSizes = fc.integer({ min: 1000, max: 700_000 })
    await fc.assert(
      fc.asyncProperty(sizes, partSizes, async (lengths, partSize) => {
        const blocks = new BufferPool()
        const pieces = chunksOf(lengths)
        const content = Buffer.concat(pieces)
        const sent: Buffer[] = []
        const options = { partSize, blocks, memory: FREEING }
        for await (const { content } of gather(pieces, options)) {
          sent.push(Buffer.concat(content.pieces))
          expect(content.byteLength).toBe(sent.at(-1)?.byteLength)
          content.giveBack()
        }
        expect(Buffer.concat(sent).equals(content)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

describe('blocks', () => {
  it('are used again, and are never two at once', () => {
    const blocks = new BufferPool()
    const [one, two] = [blocks.take(), blocks.take()]
    expect(one).not.toBe(two)
    blocks.giveBack(one)
    expect(blocks.take()).toBe(one)
    expect(blocks.take()).not.toBe(one)
  })

  it('that are not used for a while go back to the system', ({ onTestFinished }) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const blocks = new BufferPool()
    const block = blocks.take()
    blocks.giveBack(block)
    vi.advanceTimersByTime(11_000)
    expect(blocks.take()).not.toBe(block)
  })
})

async function* bytesOf(
  pieces: readonly Uint8Array[] | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield* pieces
}
