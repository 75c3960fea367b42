import { setImmediate as iteration } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MemoryAllocation } from '../../../src/core/memory/allocation.ts'
import type { Permit } from '../../../src/core/async/fair-semaphore.ts'
import { smallestBudget, UploadMemory } from '../../../src/core/memory/upload-memory.ts'

const MIB = 2 ** 20
const PART = MIB

/** Room for four parts, and for 22 uploads of a user to begin. */
const BUDGET = smallestBudget(PART)
const SHARES = 22

const never = new AbortController().signal

function createMemory(): UploadMemory {
  return new UploadMemory({ budget: BUDGET, partSize: PART, maxPerUser: Infinity })
}

/** An upload that gathers as many parts as it gets, and whose client sends what the test says. */
class Upload implements Disposable {
  readonly client = { bytes: 0, isAwaited: true }
  readonly permits: Permit[] = []
  outcome: { code?: string } | undefined
  readonly #allocation: MemoryAllocation

  constructor(allocation: MemoryAllocation) {
    this.#allocation = allocation
    allocation.watch(this.client)
  }

  get isEvicted(): boolean {
    return this.#allocation.evicted.aborted
  }

  get evicted(): AbortSignal {
    return this.#allocation.evicted
  }

  async gather(bytes = PART, parts = 1): Promise<void> {
    for (let asked = 0; asked < parts; asked++) {
      this.#allocation.acquire(bytes, never).then(
        (permit) => this.permits.push(permit),
        (error: { code?: string }) => (this.outcome = error),
      )
    }
    await rest()
  }

  tryAcquire(bytes: number): Permit | undefined {
    return this.#allocation.tryAcquire(bytes)
  }

  async send(): Promise<void> {
    this.permits.shift()?.release()
    await rest()
  }

  [Symbol.dispose](): void {
    this.#allocation[Symbol.dispose]()
  }
}

async function admit(memory: UploadMemory, userId = 'ann'): Promise<Upload> {
  return new Upload(await memory.allocate({ userId, signal: never }))
}

/** Lets all that is under way come to rest. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await iteration()
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
  it('lets an upload wait when there is no room, until another has sent a part', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    await a.gather(PART, 4)
    expect(a.permits).toHaveLength(4)
    using b = await admit(memory)
    await b.gather()
    expect(b.permits).toHaveLength(0)
    expect(memory.usage().waiting).toBe(1)
    await a.send()
    expect(b.permits).toHaveLength(1)
  })

  it('has all of it again when an upload is over, whatever it held and whether or not it waited', async () => {
    const memory = createMemory()
    for (let round = 0; round < 5; round++) {
      const uploads = await Promise.all(Array.from({ length: 3 }, () => admit(memory)))
      for (const upload of uploads) await upload.gather(PART, 2)
      expect(uploads.map(({ permits }) => permits.length)).toEqual([2, 2, 0])
      // The last one gets its memory only when it is over, too.
      for (const upload of uploads) upload[Symbol.dispose]()
      await rest()
      expect(memory.usage()).toMatchObject({ taken: 0, waiting: 0 })
    }
  })

  it('counts a permit that is released twice, or after its upload, once', async () => {
    const memory = createMemory()
    const upload = await admit(memory)
    await upload.gather(PART, 2)
    const [one, two] = upload.permits
    one?.release()
    one?.release()
    upload[Symbol.dispose]()
    upload[Symbol.dispose]()
    two?.release()
    expect(memory.usage().taken).toBe(0)
    using next = await admit(memory)
    await next.gather(PART, 5)
    expect(next.permits).toHaveLength(4)
  })

  it('is there or not, at once, for one that does not wait', async () => {
    const memory = createMemory()
    const upload = await admit(memory)
    const permit = upload.tryAcquire(4 * PART)
    expect(permit).toBeDefined()
    expect(upload.tryAcquire(PART)).toBeUndefined()
    permit?.release()
    upload[Symbol.dispose]()
    expect(upload.tryAcquire(1)).toBeUndefined()
  })

  it('tells an upload that has waited for long to come back later', async () => {
    const memory = createMemory()
    using a = await admit(memory)
    await a.gather(PART, 4)
    a.client.isAwaited = false
    using b = await admit(memory)
    await b.gather()
    await pass(134_000)
    expect(b.outcome).toBeUndefined()
    await pass(2_000)
    expect(b.outcome).toMatchObject({ code: 'unavailable' })
  })

  it('takes the room of an upload whose client sends next to nothing, when others wait', async () => {
    const memory = createMemory()
    using slow = await admit(memory)
    using fast = await admit(memory)
    await slow.gather(PART, 2)
    await fast.gather(PART, 2)
    fast.client.isAwaited = false
    await pass(10_500)
    slow.client.bytes += 10
    expect(slow.isEvicted).toBe(false)
    using waiting = await admit(memory)
    await waiting.gather()
    await pass(250)
    expect(slow.evicted.reason).toMatchObject({ code: 'unavailable' })
    expect(fast.isEvicted).toBe(false)
    slow[Symbol.dispose]()
    await rest()
    expect(waiting.permits).toHaveLength(1)
  })

  it('takes it also from one that waits for more, which then waits no longer', async () => {
    const memory = createMemory()
    using slow = await admit(memory)
    await slow.gather(PART, 5)
    await pass(5_500)
    expect(slow.outcome).toMatchObject({ code: 'unavailable' })
    expect(memory.usage().waiting).toBe(0)
  })

  it('leaves an upload alone that comes steadily, though others wait', async () => {
    const memory = createMemory()
    using steady = await admit(memory)
    await steady.gather(PART, 4)
    using waiting = await admit(memory)
    await waiting.gather()
    for (let seconds = 0; seconds < 12; seconds++) {
      steady.client.bytes += 70_000
      await pass(1_000)
    }
    expect(waiting.permits).toHaveLength(0)
    expect(steady.isEvicted).toBe(false)
  })

  it('lets a slow upload be while nobody waits', async () => {
    const memory = createMemory()
    using slow = await admit(memory)
    await slow.gather(PART, 4)
    await pass(60_000)
    expect(slow.isEvicted).toBe(false)
  })

  it('does not take an upload for slow that waits for the store, or for room', async () => {
    const memory = createMemory()
    using atStore = await admit(memory)
    await atStore.gather(PART, 4)
    using waiting = await admit(memory)
    await waiting.gather()
    for (const { client } of [atStore, waiting]) client.isAwaited = false
    await pass(30_000)
    expect([atStore.isEvicted, waiting.isEvicted]).toEqual([false, false])
  })

  it('takes the place of slow uploads when there are too many to begin another', async () => {
    const memory = createMemory()
    const slow = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    let next: Upload | undefined
    void admit(memory).then((upload) => (next = upload))
    await rest()
    expect(next).toBeUndefined()
    await pass(10_000)
    const evicted = slow.filter(({ isEvicted }) => isEvicted)
    expect(evicted).toHaveLength(1)
    evicted[0]?.[Symbol.dispose]()
    await rest()
    expect(next).toBeDefined()
    for (const upload of [...slow, next]) upload?.[Symbol.dispose]()
  })

  it('turns slow uploads away a few at a time, however many wait for their places', async () => {
    const memory = createMemory()
    const slow = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    const all: Upload[] = [...slow]
    for (let at = 0; at < SHARES; at++) void admit(memory).then((upload) => all.push(upload))
    await pass(5_000)
    const evicted = () => slow.filter(({ isEvicted }) => isEvicted)
    expect(evicted()).toHaveLength(2)
    for (const upload of evicted()) upload[Symbol.dispose]()
    await pass(250)
    expect(evicted()).toHaveLength(4)
    expect(all).toHaveLength(SHARES + 2)
    for (const upload of all) upload[Symbol.dispose]()
  })

  it('takes the parts of slow uploads, however many others are turned away for their places', async () => {
    const memory = new UploadMemory({ budget: 64 * MIB, partSize: PART, maxPerUser: Infinity })
    using slow = await admit(memory, 'slow')
    await slow.gather(PART, 32)
    using ann = await admit(memory, 'ann')
    await ann.gather()
    expect(ann.permits).toHaveLength(0)
    const crowd: Upload[] = []
    for (let ticks = 0; ticks < 60 && !slow.isEvicted; ticks++) {
      while (memory.usage().waiting < 100) {
        void admit(memory, 'crowd').then((upload) => crowd.push(upload))
      }
      ann.client.bytes += MIB
      slow.client.bytes += 12 * 1024
      await pass(250)
      for (const upload of crowd) if (upload.isEvicted) upload[Symbol.dispose]()
    }
    expect(slow.isEvicted).toBe(true)
    for (const upload of crowd) upload[Symbol.dispose]()
  })

  it('turns away no more than others need, while those who leave still hold theirs', async () => {
    const memory = createMemory()
    const slow = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    for (let at = 0; at < 3; at++) void admit(memory).catch(() => undefined)
    await pass(7_000)
    expect(slow.filter(({ isEvicted }) => isEvicted)).toHaveLength(3)
    for (const upload of slow) upload[Symbol.dispose]()
  })

  it('lets a user who has little begin, and send a small file, though a crowd has taken all and dawdles', async () => {
    const memory = new UploadMemory({ budget: 64 * MIB, partSize: 8 * PART, maxPerUser: Infinity })
    const crowd: Upload[] = []
    for (let at = 0; at < 300; at++) {
      void admit(memory, `crowd-${at % 20}`).then((upload) => crowd.push(upload))
    }
    await rest()
    expect(crowd.length).toBeLessThan(300)
    const gathering = crowd.slice(0, 20)
    for (const upload of gathering) await upload.gather(8 * PART)
    expect(gathering.some(({ permits }) => permits.length === 0)).toBe(true)
    using ann = await admit(memory)
    await ann.gather(PART / 4)
    expect(ann.permits).toHaveLength(1)
    for (const upload of crowd) upload[Symbol.dispose]()
  })

  describe('when steady uploads have all shares', () => {
    /** Passes ten seconds and a tick, in which each upload sends more than a slow one. */
    async function passSteadily(uploads: readonly Upload[]): Promise<void> {
      for (let seconds = 0; seconds < 10; seconds++) {
        for (const { client } of uploads) client.bytes += 200_000
        await pass(1_000)
      }
      await pass(250)
    }

    it('takes one from the user who has most, for a user who has none', async () => {
      const memory = createMemory()
      const crowd: Upload[] = []
      const begin = (userId: string) =>
        void admit(memory, userId).then((upload) => crowd.push(upload))
      for (let at = 0; at < 40; at++) begin('many')
      // Others get what is reserved for them, until it is used up, too.
      for (let at = 0; memory.usage().waiting < 40 - SHARES + 2; at++) {
        begin(`user-${at}`)
        await rest()
      }
      const before = crowd.length
      await passSteadily(crowd)
      const evicted = crowd.filter(({ isEvicted }) => isEvicted)
      expect(evicted).toHaveLength(1)
      for (const upload of evicted) upload[Symbol.dispose]()
      await rest()
      expect(crowd).toHaveLength(before + 1)
      for (const upload of crowd) upload[Symbol.dispose]()
    })

    it('takes none from users who have one each', async () => {
      const memory = createMemory()
      const crowd: Upload[] = []
      for (let at = 0; at < 60; at++) {
        void admit(memory, `user-${at}`).then((upload) => crowd.push(upload))
      }
      await passSteadily(crowd)
      expect(memory.usage().waiting).toBeGreaterThan(0)
      expect(crowd.some(({ isEvicted }) => isEvicted)).toBe(false)
      for (const upload of crowd) upload[Symbol.dispose]()
    })
  })

  it('refuses a user who has too many, also waiting ones, until one of them is over', async () => {
    const memory = new UploadMemory({ budget: BUDGET, partSize: PART, maxPerUser: SHARES + 1 })
    const crowd = await Promise.all(Array.from({ length: SHARES }, () => admit(memory, 'zed')))
    const wait = () => {
      const controller = new AbortController()
      const { signal } = controller
      const allocated = memory.allocate({ userId: 'zed', signal })
      const outcome = allocated.then(
        () => 'allocated',
        (error: { code?: unknown }) => error.code,
      )
      return { outcome, giveUp: () => controller.abort({ code: 'given up' }) }
    }
    const outcomeOfOneMore = async () => {
      const { outcome, giveUp } = wait()
      await rest()
      giveUp()
      return await outcome
    }
    expect(await outcomeOfOneMore()).toBe('given up')
    const waiting = wait()
    expect(await outcomeOfOneMore()).toBe('too_many_requests')
    crowd[0]?.[Symbol.dispose]()
    crowd[0]?.[Symbol.dispose]()
    expect(await waiting.outcome).toBe('allocated')
    const last = wait()
    expect(await outcomeOfOneMore()).toBe('too_many_requests')
    using _ann = await admit(memory, 'ann')
    for (const upload of crowd) upload[Symbol.dispose]()
    expect(await last.outcome).toBe('allocated')
  })

  it('ends the wait of an upload that is given up before it begins', async () => {
    const memory = createMemory()
    const shares = await Promise.all(Array.from({ length: SHARES }, () => admit(memory)))
    const giveUp = new AbortController()
    const waiting = memory.allocate({ userId: 'ann', signal: giveUp.signal })
    giveUp.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    shares[0]?.[Symbol.dispose]()
    using next = await admit(memory)
    expect(next.isEvicted).toBe(false)
    for (const share of shares) share[Symbol.dispose]()
  })
})
