import { describe, expect, it } from 'vitest'
import { createReadBatches } from '../../../src/database/files/find-file.ts'

/** Reads that answer with ten times the key, and what was read together. */
function bed() {
  const batches: (readonly number[])[] = []
  const read = createReadBatches<number, number>(async (keys) => {
    batches.push(keys)
    if (keys.includes(0)) throw new Error('no answer')
    return keys.map((key) => key * 10)
  })
  return { batches, read }
}

describe('reads', () => {
  it('share a statement with all that are asked for at the same time, each with its own answer', async () => {
    const { batches, read } = bed()
    expect(await Promise.all([1, 2, 3].map(read))).toEqual([10, 20, 30])
    expect(await Promise.all([4, 4].map(read))).toEqual([40, 40])
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 4],
    ])
  })

  it('are 64 in a statement at most', async () => {
    const { batches, read } = bed()
    const keys = Array.from({ length: 130 }, (_, index) => index + 1)
    expect(await Promise.all(keys.map(read))).toEqual(keys.map((key) => key * 10))
    expect(batches.map(({ length }) => length)).toEqual([64, 64, 2])
  })

  it('all fail with what their statement fails with, and those after them do not', async () => {
    const { read } = bed()
    const failed = { status: 'rejected', reason: new Error('no answer') }
    expect(await Promise.allSettled([1, 0].map(read))).toEqual([failed, failed])
    expect(await read(2)).toBe(20)
  })

  it('are sent after they were asked for, and with none that came later', async () => {
    const { batches, read } = bed()
    const first = read(1)
    expect(batches).toEqual([])
    await first
    await read(2)
    expect(batches).toEqual([[1], [2]])
  })
})
