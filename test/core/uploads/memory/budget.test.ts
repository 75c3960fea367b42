import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MemoryAllocation } from '../../../../src/core/uploads/memory/allocation.ts'
import { smallestBudget, UploadMemory } from '../../../../src/core/uploads/memory/budget.ts'
import { detachBuffer } from '../../../../src/core/objects/object-store.ts'

const MIB = 2 ** 20
const PART = MIB

/** Room for four parts, and for 22 uploads of a user to begin. */
const BUDGET = smallestBudget(PART)
const SHARES = 22

/** What comes of each part without further room. */
const FIRST_BYTES = 32 * 1024

const never = new AbortController().signal

function createMemory(): UploadMemory {
  return new UploadMemory({ budget: BUDGET, partSize: PART })
}

/**
 * An upload whose client sends when the test says so, and of which the store gathers all until the test releases it.
 */
interface Upload extends MemoryAllocation {
  /** The client sends a piece; resolves when all that can happen at once has. */
  send(bytes: number): Promise<void>
  end(): Promise<void>
  /** What has passed so far. */
  readonly passed: () => number
  /** How it ended. */
  readonly outcome: () => 'done' | { code?: string } | undefined
}

async function admit(memory: UploadMemory, userId = 'ann'): Promise<Upload> {
  const allocation = await memory.admit({ userId, signal: never })
  const pieces = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: Number.POSITIVE_INFINITY,
  })
  const writer = pieces.writable.getWriter()
  let passed = 0
  let outcome: ReturnType<Upload['outcome']>
  const run = async (): Promise<void> => {
    for await (const piece of allocation.hold(pieces.readable)) passed += piece.byteLength
  }
  run().then(
    () => (outcome = 'done'),
    (error: { code?: string }) => (outcome = error),
  )
  return Object.assign(allocation, {
    async send(bytes: number) {
      void writer.write(new Uint8Array(bytes))
      await rest()
    },
    async end() {
      void writer.close()
      await rest()
    },
    passed: () => passed,
    outcome: () => outcome,
  })
}

/** Lets all that is under way come to rest. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await rest()
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('the memory of uploads', () => {
  it('passes content on as it is', async () => {
    using allocation = await createMemory().admit({ userId: 'ann', signal: never })
    const pieces = [Buffer.from('abc'), Buffer.from(''), Buffer.from('de')]
    const content = (async function* () {
      yield* pieces
    })()
    expect(await Array.fromAsync(allocation.hold(content))).toEqual(pieces)
  })

  it('reads nothing of a piece that it has handed on, which may be freed by then', async () => {
    using allocation = await createMemory().admit({ userId: 'ann', signal: never })
    const content = (async function* () {
      yield* [1, 2, 3].map((byte) => new Uint8Array(10_000).fill(byte))
    })()
    const seen: (number | undefined)[] = []
    for await (const piece of allocation.hold(content)) {
      seen.push(piece[0])
      detachBuffer(piece)
    }
    expect(seen).toEqual([1, 2, 3])
  })

  it('lets an upload wait when there is no room, until another gives some back', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    using b = await admit(memory)
    await a.send(2 * MIB)
    await b.send(2 * MIB)
    expect([a.passed(), b.passed()]).toEqual([2 * MIB, 2 * MIB])
    using c = await admit(memory)
    await c.send(MIB)
    expect(c.passed()).toBe(FIRST_BYTES)
    a.release(PART)
    await rest()
    expect(c.passed()).toBe(MIB)
    await c.end()
    expect(c.outcome()).toBe('done')
  })

  it('gives all back when an upload is over, whatever it held and whether or not it waited', async () => {
    const memory = createMemory()
    for (let round = 0; round < 5; round++) {
      const uploads = await Promise.all(Array.from({ length: 4 }, () => admit(memory)))
      for (const upload of uploads) await upload.send(2 * MIB)
      const passed = uploads.map((upload) => upload.passed())
      expect(passed).toEqual([2 * MIB, 2 * MIB, FIRST_BYTES, FIRST_BYTES])
      for (const upload of uploads) upload[Symbol.dispose]()
      await rest()
    }
  })

  it('keeps no room for an upload that ended while it waited', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    using b = await admit(memory)
    await a.send(2 * MIB)
    await b.send(2 * MIB)
    const gone = await admit(memory)
    await gone.send(2 * MIB)
    gone[Symbol.dispose]()
    a.release(2 * MIB)
    using next = await admit(memory)
    await next.send(2 * MIB)
    expect(next.passed()).toBe(2 * MIB)
  })

  it('gives little to those who send little', async () => {
    const memory = createMemory()
    const uploads = await Promise.all(Array.from({ length: 20 }, () => admit(memory)))
    for (const upload of uploads) await upload.send(64 * 1024)
    expect(uploads.map((upload) => upload.passed())).toEqual(uploads.map(() => 64 * 1024))
    for (const upload of uploads) upload[Symbol.dispose]()
  })

  it('claims for an upload that has to wait no more than its file needs, when that is known', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    using b = await admit(memory)
    await a.send(2 * MIB)
    await b.send(MIB)
    const expectedSize = PART / 8
    const file = [new Uint8Array(expectedSize)]
    const small = await Promise.all(Array.from({ length: 8 }, () => admit(memory)))
    const reads = small.map((upload) =>
      Array.fromAsync(upload.hold(ReadableStream.from(file), { expectedSize })),
    )
    expect(await Promise.all(reads)).toHaveLength(8)
    for (const upload of small) upload[Symbol.dispose]()
  })

  it('gives back at the end of an upload what it has not used, before the store has it all', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    using b = await admit(memory)
    await a.send(2 * MIB)
    await b.send(MIB)
    using short = await admit(memory)
    await short.send(2 * FIRST_BYTES)
    using next = await admit(memory)
    await next.send(0.5 * MIB)
    expect(next.passed()).toBe(FIRST_BYTES)
    await short.end()
    b.release(2 * FIRST_BYTES)
    await rest()
    expect(next.passed()).toBe(0.5 * MIB)
  })

  it('tells an upload that has waited for long, with nobody coming forward, to come back later', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    using b = await admit(memory)
    await a.send(2 * MIB)
    await b.send(2 * MIB)
    await a.end()
    await b.end()
    using c = await admit(memory)
    await c.send(MIB)
    await pass(44_000)
    expect(c.outcome()).toBeUndefined()
    await pass(2_000)
    expect(c.outcome()).toMatchObject({ code: 'unavailable' })
  })

  it('lets one wait for longer while others come forward, but not for ever', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    using b = await admit(memory)
    await a.send(2 * MIB)
    await b.send(2 * MIB)
    await b.end()
    using c = await admit(memory)
    await c.send(2 * MIB)
    for (const ms of [40_000, 45_000, 45_000]) {
      await pass(ms)
      expect(c.outcome()).toBeUndefined()
      a.release(10)
    }
    await pass(10_000)
    expect(c.outcome()).toMatchObject({ code: 'unavailable' })
  })

  it('takes the room of an upload whose client sends next to nothing, when others wait', async () => {
    const memory = createMemory()
    using slow = await admit(memory)
    using fast = await admit(memory)
    await slow.send(2 * MIB)
    await fast.send(2 * MIB)
    await fast.end()
    await pass(10_500)
    await slow.send(10)
    using waiting = await admit(memory)
    await waiting.send(MIB)
    expect(slow.taken.reason).toMatchObject({ code: 'unavailable' })
    expect(fast.taken.aborted).toBe(false)
    slow[Symbol.dispose]()
    await rest()
    expect(waiting.passed()).toBe(MIB)
  })

  it('leaves an upload alone that comes steadily, though others wait', async () => {
    const memory = createMemory()
    using steady = await admit(memory)
    using other = await admit(memory)
    await other.send(2 * MIB)
    await other.end()
    await steady.send(MIB + 2 * FIRST_BYTES)
    using waiting = await admit(memory)
    await waiting.send(2 * MIB)
    for (let seconds = 0; seconds < 12; seconds++) {
      await steady.send(70_000)
      await pass(1_000)
    }
    expect(steady.passed()).toBe(MIB + 2 * FIRST_BYTES + 12 * 70_000)
    expect(waiting.passed()).toBe(FIRST_BYTES)
    expect(steady.taken.aborted).toBe(false)
  })

  it('lets a slow upload be while there is enough', async () => {
    const memory = createMemory()
    using slow = await admit(memory)
    await slow.send(MIB)
    await pass(60_000)
    expect(slow.taken.aborted).toBe(false)
  })

  it('makes some room before it is needed', async () => {
    const memory = createMemory()
    using slow = await admit(memory)
    await slow.send(2.5 * MIB)
    await pass(10_000)
    expect(slow.taken.aborted).toBe(true)
  })

  it('does not take an upload for slow that waits for the store, or for room', async () => {
    const memory = createMemory()
    using atStore = await memory.admit({ userId: 'ann', signal: never })
    const content = (async function* () {
      yield new Uint8Array(2 * MIB)
    })()
    const read = atStore.hold(content)
    for (let passed = 0; passed < 2 * MIB;) {
      passed += (await read.next()).value?.byteLength ?? 0
    }
    using other = await admit(memory)
    await other.send(2 * MIB)
    await other.end()
    using waiting = await admit(memory)
    await waiting.send(MIB)
    await pass(30_000)
    expect([atStore, waiting].map(({ taken }) => taken.aborted)).toEqual([false, false])
    await read.return()
  })

  it('takes the room of an upload whose file has come, and whose client dawdles with what follows', async () => {
    const memory = createMemory()
    const slow = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    for (const upload of slow) await upload.end()
    const ends = slow.map((upload) => upload.awaitClient(new Promise<void>(() => undefined)))
    void Promise.allSettled(ends)
    let next: Upload | undefined
    void admit(memory).then((upload) => (next = upload))
    await pass(10_000)
    const taken = slow.filter((upload) => upload.taken.aborted)
    expect(taken).toHaveLength(1)
    taken[0]?.[Symbol.dispose]()
    await rest()
    expect(next).toBeDefined()
    await expect(Promise.race(ends)).rejects.toMatchObject({ code: 'unavailable' })
    for (const upload of [...slow, next]) upload?.[Symbol.dispose]()
  })

  it('takes the place of slow uploads when there are too many to begin another', async () => {
    const memory = createMemory()
    const slow = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    for (const upload of slow) await upload.send(10)
    let next: Upload | undefined
    void admit(memory).then((upload) => (next = upload))
    await rest()
    expect(next).toBeUndefined()
    await pass(10_000)
    const taken = slow.filter((upload) => upload.taken.aborted)
    expect(taken).toHaveLength(1)
    taken[0]?.[Symbol.dispose]()
    await rest()
    expect(next).toBeDefined()
    for (const upload of [...slow, next]) upload?.[Symbol.dispose]()
  })

  it('turns slow uploads away a few at a time, however many wait for their places', async () => {
    const memory = createMemory()
    const slow = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    for (const upload of slow) await upload.send(2 * FIRST_BYTES)
    const all: Upload[] = [...slow]
    for (let at = 0; at < SHARES; at++) void admit(memory).then((upload) => all.push(upload))
    await pass(5_000)
    const taken = () => slow.filter((upload) => upload.taken.aborted)
    expect(taken()).toHaveLength(2)
    for (const upload of taken()) upload[Symbol.dispose]()
    await pass(250)
    expect(taken()).toHaveLength(4)
    expect(all).toHaveLength(SHARES + 2)
    for (const upload of all) upload[Symbol.dispose]()
  })

  it('waits for no upload that takes long to leave', async () => {
    const memory = createMemory()
    const slow = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    for (let at = 0; at < SHARES; at++) void admit(memory).catch(() => undefined)
    await pass(5_000)
    const taken = () => slow.filter((upload) => upload.taken.aborted)
    expect(taken()).toHaveLength(2)
    await pass(1_250)
    expect(taken()).toHaveLength(4)
    for (const upload of slow) upload[Symbol.dispose]()
  })

  it('lets a user who has little begin, and send a small file, though a crowd has taken all and dawdles', async () => {
    const memory = new UploadMemory({ budget: 64 * MIB, partSize: 8 * PART })
    const crowd: Upload[] = []
    for (let at = 0; at < 300; at++) {
      void admit(memory, `crowd-${at % 20}`).then((upload) => crowd.push(upload))
    }
    await rest()
    expect(crowd.length).toBeLessThan(300)
    const parts = crowd.slice(0, 20)
    for (const upload of parts) await upload.send(8 * PART - 1)
    expect(parts.some((upload) => upload.passed() < 8 * PART - 1)).toBe(true)
    const file = [new Uint8Array(PART / 4)]
    using allocation = await memory.admit({ userId: 'ann', signal: never })
    const read = allocation.hold(ReadableStream.from(file), { expectedSize: PART / 4 })
    expect(await Array.fromAsync(read)).not.toHaveLength(0)
    for (const upload of crowd) upload[Symbol.dispose]()
  })

  it('ends the wait of an upload that is given up before it begins', async () => {
    const memory = createMemory()
    const shares = await Promise.all(
      Array.from({ length: SHARES }, () => memory.admit({ userId: 'ann', signal: never })),
    )
    const giveUp = new AbortController()
    const waiting = memory.admit({ userId: 'ann', signal: giveUp.signal })
    giveUp.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    shares[0]?.[Symbol.dispose]()
    using next = await memory.admit({ userId: 'ann', signal: never })
    expect(next.taken.aborted).toBe(false)
  })

  it('brings all of many large uploads through at the same time, one as far as another', async () => {
    const memory = createMemory()
    const left = new Map<number, number>()
    const upload = async (id: number): Promise<void> => {
      using allocation = await memory.admit({ userId: 'ann', signal: never })
      left.set(id, 20)
      let gathered = 0
      for await (const piece of allocation.hold(tens())) {
        gathered += piece.byteLength
        if (gathered < PART) continue
        await turn()
        allocation.release(gathered)
        gathered = 0
        left.set(id, (left.get(id) ?? 0) - 1)
        const counts = [...left.values()]
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(6)
      }
    }
    async function* tens(): AsyncGenerator<Uint8Array, void> {
      for (let pieces = 0; pieces < 20 * 10; pieces++) {
        await turn()
        yield new Uint8Array(PART / 10 + 1)
      }
    }
    await Promise.all(Array.from({ length: SHARES }, (_, id) => upload(id)))
    expect(left.size).toBe(SHARES)
  })
})
