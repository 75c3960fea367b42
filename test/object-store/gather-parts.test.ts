import { describe, expect, it } from 'vitest'
import { gatherParts } from '../../src/object-store/gather-parts.ts'

const PART = 10

describe('gathering parts', () => {
  it.each([
    { pieces: [], parts: [''] },
    { pieces: ['abc'], parts: ['abc'] },
    { pieces: ['01234', '56789'], parts: ['0123456789'] },
    { pieces: ['01234', '56789', 'a'], parts: ['0123456789', 'a'] },
    { pieces: ['01234567', '89abc', 'de'], parts: ['0123456789', 'abcde'] },
    { pieces: ['0123456789abcdefghijklmno'], parts: ['0123456789', 'abcdefghij', 'klmno'] },
  ])('makes $parts of $pieces', async ({ pieces, parts }) => {
    const gathered = await Array.fromAsync(gatherParts(bytesOf(pieces), PART))
    expect(gathered.map(({ data }) => data.toString())).toEqual(parts)
    expect(gathered.map(({ partNumber }) => partNumber)).toEqual(parts.map((_, at) => at + 1))
    const last = gathered.map(({ lastPart }) => lastPart)
    expect(last).toEqual(parts.map((_, at) => at === parts.length - 1))
  })

  it('puts no byte of the next part into the memory of one', async () => {
    const size = 2 ** 20
    const pieces = bytesOf(Array.from({ length: 5 }, () => 'x'.repeat(size / 2 + 1)))
    const gathered = await Array.fromAsync(gatherParts(pieces, size))
    const blocks = gathered.map(({ data }) => data.buffer)
    expect(new Set(blocks).size).toBe(gathered.length)
    expect(blocks.slice(0, -1).map(({ byteLength }) => byteLength)).toEqual([size, size])
  })
})

async function* bytesOf(pieces: readonly string[]): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) yield Buffer.from(piece)
}
