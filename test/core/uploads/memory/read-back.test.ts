import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import type { MemoryAllocation } from '../../../../src/core/uploads/memory/allocation.ts'
import { smallestBudget, UploadMemory } from '../../../../src/core/uploads/memory/budget.ts'
import type { HoldOptions } from '../../../../src/core/objects/body-memory.ts'

const KIB = 1024
const PART = KIB * KIB

/** What comes of each part without further room. */
const FIRST_BYTES = 32 * KIB

/** All that uploads can gather. */
const ROOM = smallestBudget(PART) / 2

const never = new AbortController().signal

let memory: UploadMemory

beforeEach(() => {
  memory = new UploadMemory({ budget: smallestBudget(PART), partSize: PART })
})

/** What an allocation holds of the room. */
async function admit(userId = 'ann'): Promise<MemoryAllocation> {
  return await memory.admit({ userId, signal: never })
}

/** Begins to hold a content, piece by piece, and resolves to all that passed when it ends. */
function hold(allocation: MemoryAllocation, sizes: readonly number[], options: HoldOptions) {
  const held = { passed: 0, ended: Promise.resolve() }
  const run = async (): Promise<void> => {
    const pieces = ReadableStream.from(sizes.map((size) => new Uint8Array(size)))
    for await (const piece of allocation.hold(pieces, options)) held.passed += piece.byteLength
  }
  held.ended = run()
  held.ended.catch(() => undefined)
  return held
}

/** Leaves `bytes` to others. */
async function fill(bytes: number): Promise<MemoryAllocation> {
  const allocation = await admit('crowd')
  const size = ROOM - bytes
  await hold(allocation, [size], { partSize: size }).ended
  return allocation
}

async function rest(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}

describe('the memory of an append that reads a tail back', () => {
  const heldBefore = PART - 100 * KIB
  const firstPart = { contentBytes: 100 * KIB, heldBefore }

  it('is claimed for the tail with the byte that completes the part, and given back with it', async () => {
    using allocation = await admit()
    const taken: number[] = []
    const pieces = [100 * KIB - 1, 1, 10].map((size) => new Uint8Array(size))
    const options = { partSize: PART, firstPart }
    for await (const _ of allocation.hold(ReadableStream.from(pieces), options)) {
      taken.push(allocation.room)
    }
    expect(taken).toEqual([0, 68 * KIB - 1, PART, PART])
    allocation.release(PART + 10)
    expect(allocation.room).toBe(0)
  })

  it('is not claimed for a tail that stays where it is', async () => {
    using allocation = await admit()
    await hold(allocation, [100 * KIB - 1], { partSize: PART, firstPart }).ended
    expect(allocation.room).toBe(68 * KIB - 1)
  })

  it('is claimed at once where the content is there already, and only its end is to be sent', async () => {
    using allocation = await admit()
    const sealed = { contentBytes: 0, heldBefore }
    await hold(allocation, [], { partSize: PART, firstPart: sealed }).ended
    expect(allocation.room).toBe(heldBefore)
  })

  it('is claimed as a whole by one that has to wait, which then needs no more', async () => {
    using crowd = await fill(PART - 1)
    using allocation = await admit()
    const held = hold(allocation, [40 * KIB, 60 * KIB], { partSize: PART, firstPart })
    await rest()
    expect(held.passed).toBe(FIRST_BYTES)
    expect(memory.usage().waiting).toBe(1)
    crowd.release(1)
    await held.ended
    expect(allocation.room).toBe(PART)
  })

  it('is claimed without the tail by one that will not complete the part', async () => {
    using _ = await fill(80 * KIB)
    using allocation = await admit()
    const options = { partSize: PART, firstPart, expectedSize: 80 * KIB }
    await hold(allocation, [80 * KIB], options).ended
    expect(allocation.room).toBeLessThanOrEqual(80 * KIB)
  })

  it('is waited for no longer than the signal says', async () => {
    using _ = await fill(0)
    using allocation = await admit()
    const caller = new AbortController()
    const options = { partSize: PART, firstPart, signal: caller.signal }
    const held = hold(allocation, [80 * KIB], options)
    await rest()
    expect(held.passed).toBe(FIRST_BYTES)
    expect(memory.usage().waiting).toBe(1)
    const reason = new Error('connection reset')
    caller.abort(reason)
    await expect(held.ended).rejects.toBe(reason)
    expect(memory.usage().waiting).toBe(0)
  })
})

describe('the memory of a merge', () => {
  it('is there or not, at once, and is given back', async () => {
    using allocation = await admit()
    await hold(allocation, [10 * KIB], { partSize: PART }).ended
    expect(allocation.tryHold(22 * KIB)).toBe(true)
    expect(allocation.room).toBe(0)
    expect(allocation.tryHold(100 * KIB)).toBe(true)
    expect(allocation.room).toBe(100 * KIB)
    allocation.release(132 * KIB)
    expect(allocation.room).toBe(0)
    using _ = await fill(0)
    expect(allocation.tryHold(100 * KIB)).toBe(false)
    expect(memory.usage().waiting).toBe(0)
  })

  it('is none when the append is over', async () => {
    const allocation = await admit()
    allocation[Symbol.dispose]()
    expect(allocation.tryHold(1)).toBe(false)
  })
})
