import { array, assert, infiniteStream, integer, nat, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Headroom, MemoryPool } from '../../../../src/core/uploads/memory/fair-queue.ts'

const NO_RESERVE = { bytes: 0, largest: 0 }

/**
 * `request` asks for a user, and returns what withdraws it; `granted` holds the users who were served, in that order.
 */
function bed(bytes: number, keptForRequests: number, reserve = NO_RESERVE) {
  const pool = new MemoryPool({ bytes, keptForRequests, reserve })
  const granted: string[] = []
  const request = (userId: string, wanted: number): (() => void) => {
    const { signal, abort } = abortable()
    const grant = () => granted.push(userId)
    pool.acquire({ userId, bytes: wanted, grant, signal }).catch(() => undefined)
    return abort
  }
  return { pool, granted, request }
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

describe('MemoryPool', () => {
  it('hands out what is there, and no more', () => {
    const { pool, request, granted } = bed(10, 0)
    expect(pool.take('zed', 6)).toBe(true)
    expect(pool.take('zed', 5)).toBe(false)
    request('ann', 5)
    expect(granted).toEqual([])
    expect({ free: pool.free, lacking: pool.lacking }).toEqual({
      free: 4,
      lacking: { first: 1, all: 1 },
    })
    expect([pool.taken, pool.waiting]).toEqual([6, 1])
  })

  it('lets those who wait have what is given back, in the order in which they came', () => {
    const { pool, granted, request } = bed(10, 0)
    pool.take('zed', 10)
    request('ann', 4)
    request('bob', 4)
    expect(pool.lacking).toEqual({ first: 4, all: 8 })
    pool.give('zed', 4)
    expect(granted).toEqual(['ann'])
    pool.give('zed', 4)
    expect(granted).toEqual(['ann', 'bob'])
  })

  it('lets nobody overtake a larger claim that waits', () => {
    const { pool, request, granted } = bed(10, 0)
    pool.take('zed', 6)
    request('ann', 5)
    expect(pool.take('zed', 1)).toBe(false)
    request('bob', 1)
    expect(granted).toEqual([])
  })

  it('forgets a claim that is withdrawn, and serves those behind it', () => {
    const { pool, request, granted } = bed(10, 0)
    pool.take('zed', 6)
    const withdraw = request('ann', 5)
    request('bob', 1)
    withdraw()
    expect(granted).toEqual(['bob'])
  })

  it('lets others go first when the first of a user is withdrawn', () => {
    const { pool, request, granted } = bed(1, 0)
    pool.take('zed', 1)
    const withdraw = request('crowd', 1)
    request('crowd', 1)
    request('ann', 1)
    withdraw()
    for (let gifts = 0; gifts < 2; gifts++) pool.give(granted.at(-1) ?? 'zed', 1)
    expect(granted).toEqual(['ann', 'crowd'])
  })

  it('keeps some of it for claims', () => {
    const { pool, request, granted } = bed(10, 4)
    expect(pool.take('zed', 7)).toBe(false)
    expect(pool.take('zed', 6)).toBe(true)
    expect(pool.free).toBe(0)
    request('ann', 4)
    expect(granted).toEqual(['ann'])
    expect(pool.free).toBe(-4)
  })

  it('serves users in turn, however many claims one has', () => {
    const { pool, request, granted } = bed(1, 0)
    pool.take('zed', 1)
    for (let claims = 0; claims < 5; claims++) request('crowd', 1)
    request('ann', 1)
    request('ann', 1)
    pool.give(granted.at(-1) ?? 'zed', 1)
    request('bob', 1)
    for (let gifts = 0; gifts < 7; gifts++) pool.give(granted.at(-1) ?? 'zed', 1)
    const others = ['crowd', 'ann', 'bob', 'crowd', 'ann']
    expect(granted).toEqual([...others, 'crowd', 'crowd', 'crowd'])
  })

  it('lets a user who comes anew begin where the line is', () => {
    const { pool, request, granted } = bed(1, 0)
    pool.take('zed', 1)
    for (let claims = 0; claims < 6; claims++) request('ann', 1)
    for (let gifts = 0; gifts < 3; gifts++) pool.give(granted.at(-1) ?? 'zed', 1)
    for (let claims = 0; claims < 3; claims++) request('bob', 1)
    for (let gifts = 0; gifts < 6; gifts++) pool.give(granted.at(-1) ?? 'zed', 1)
    expect(granted.slice(3)).toEqual(['bob', 'ann', 'bob', 'ann', 'bob', 'ann'])
  })

  it('does not forget a turn that a user has just had', () => {
    const { pool, request, granted } = bed(1, 0)
    pool.take('zed', 1)
    for (let claims = 0; claims < 4; claims++) request('ann', 1)
    for (let rounds = 0; rounds < 4; rounds++) {
      request('bob', 1)
      pool.give(granted.at(-1) ?? 'zed', 1)
      pool.give(granted.at(-1) ?? 'zed', 1)
    }
    expect(granted).toEqual(['ann', 'bob', 'ann', 'bob', 'ann', 'bob', 'ann', 'bob'])
  })

  it('tells for how long one has been the first in line', () => {
    const { pool, request } = bed(1, 0)
    pool.take('zed', 1)
    const withdraw = request('ann', 1)
    request('bob', 1)
    for (let ticks = 0; ticks < 3; ticks++) pool.tick(100)
    expect(pool.first).toMatchObject({ userId: 'ann', firstMs: 300 })
    withdraw()
    expect(pool.first).toMatchObject({ userId: 'bob', firstMs: 0 })
  })

  it('serves a small claim of a user who has little from its reserve, though others wait', () => {
    const { pool, request, granted } = bed(10, 0, { bytes: 8, largest: 2 })
    pool.take('zed', 10)
    request('ann', 3)
    request('bob', 2)
    expect(granted).toEqual(['bob'])
    expect([pool.taken, pool.waiting]).toEqual([12, 1])
    pool.give('bob', 2)
    expect([pool.taken, pool.free]).toEqual([10, 0])
  })

  it('serves those who wait also from what its reserve has again', () => {
    const { pool, request, granted } = bed(10, 0, { bytes: 3, largest: 2 })
    pool.take('zed', 10)
    request('ann', 2)
    request('ann', 2)
    request('bob', 2)
    expect(granted).toEqual(['ann'])
    pool.give('ann', 2)
    expect(granted).toEqual(['ann', 'ann'])
    pool.give('zed', 2)
    expect(granted).toEqual(['ann', 'ann', 'bob'])
    expect([pool.taken, pool.free]).toEqual([12, 0])
  })

  it('serves the first in line within a turn of the others, however many small claims they have', () => {
    const { pool, request, granted } = bed(128, 8, { bytes: 32, largest: 2 })
    const users = Array.from({ length: 20 }, (_, at) => `crowd-${at}`)
    for (let rounds = 0; rounds < 60; rounds++) for (const user of users) request(user, 1)
    request('ann', 8)
    for (let gifts = 0; !granted.includes('ann'); gifts++) {
      expect(gifts).toBeLessThan(100)
      // Whoever gives back claims as much again.
      const user = users[gifts % users.length] ?? ''
      pool.give(user, 1)
      request(user, 1)
    }
  })

  it('counts no turn for what its reserve serves, nor for what is withdrawn', () => {
    const { pool, request, granted } = bed(10, 0, { bytes: 1, largest: 1 })
    pool.take('zed', 10)
    for (let rounds = 0; rounds < 50; rounds++) {
      request('ann', 1)
      pool.give('ann', 1)
      request('ann', 2)()
    }
    for (let claims = 0; claims < 3; claims++) request('bob', 5)
    request('ann', 5)
    granted.length = 0
    pool.give('zed', 10)
    expect(granted).toEqual(['bob', 'ann'])
  })

  it('never comes to a standstill, nor hands out more than there is', () => {
    const part = 8
    const plan = record({
      bytes: integer({ min: part, max: 64 }),
      reserve: record({ bytes: nat(16), largest: nat(part) }),
      uploads: array(integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
      choices: infiniteStream(nat()),
    })
    assert(
      property(plan, ({ bytes, reserve, uploads, choices }) => {
        const choose = (): number => Number(choices.next().value)
        const pool = new MemoryPool({ bytes, keptForRequests: part, reserve })
        const memoryUse = { taken: 0 }
        const all = uploads.map((left, at) => {
          return new Gatherer(pool, { left, part, memoryUse, userId: `user-${at % 3}` })
        })
        for (let steps = 0; all.some(({ isOver }) => !isOver); steps++) {
          const ready = all.filter(({ isStuck }) => !isStuck)
          const next = ready[choose() % ready.length]
          if (next === undefined || steps > 10_000) throw new Error('a standstill')
          next.step(choose())
          expect(memoryUse.taken).toBeLessThanOrEqual(bytes + reserve.bytes)
          expect(pool.taken).toBe(memoryUse.taken)
        }
        expect(pool.free).toBe(bytes - part)
        expect(pool.taken).toBe(0)
      }),
    )
  })
})

interface GathererOptions {
  readonly left: number
  readonly part: number
  readonly userId: string
  /** What all of them together have. */
  readonly memoryUse: { taken: number }
}

/** Gathers parts in steps of any size, the next one also while those before it are under way, and gives each back. */
class Gatherer {
  left: number
  readonly #pool: MemoryPool
  readonly #options: GathererOptions
  #isWaiting = false
  #held = 0
  readonly #underWay: number[] = []

  constructor(pool: MemoryPool, options: GathererOptions) {
    this.#pool = pool
    this.#options = options
    this.left = options.left
  }

  get isOver(): boolean {
    return this.left === 0 && this.#underWay.length === 0
  }

  get isStuck(): boolean {
    return this.#underWay.length === 0 && (this.#isWaiting || this.left === 0)
  }

  step(choice: number): void {
    const canGather = !this.#isWaiting && this.left > 0 && this.#underWay.length < MOST_UNDER_WAY
    if (!canGather || (choice % 3 === 0 && this.#underWay.length > 0)) this.#giveBack()
    else this.#gather(choice)
  }

  #gather(choice: number): void {
    const missing = Math.min(this.#options.part, this.left) - this.#held
    if (missing > 0) {
      this.#ask(1 + (choice % missing), missing)
      return
    }
    this.left -= this.#held
    this.#underWay.push(this.#held)
    this.#held = 0
  }

  #ask(bytes: number, missing: number): void {
    if (this.#pool.take(this.#options.userId, bytes)) {
      this.#add(bytes)
      return
    }
    this.#isWaiting = true
    const grant = (): void => {
      this.#isWaiting = false
      this.#add(missing)
    }
    const { signal } = abortable()
    void this.#pool.acquire({ userId: this.#options.userId, bytes: missing, grant, signal })
  }

  #add(bytes: number): void {
    this.#held += bytes
    this.#options.memoryUse.taken += bytes
  }

  #giveBack(): void {
    const given = this.#underWay.shift()
    if (given === undefined) return
    this.#options.memoryUse.taken -= given
    this.#pool.give(this.#options.userId, given)
  }
}

const MOST_UNDER_WAY = 2

describe('Headroom', () => {
  it('gives a user half as much as it has left', () => {
    const reserve = new Headroom({ bytes: 12, largest: 1 })
    let ann = 0
    while (reserve.take('ann', 1)) ann += 1
    expect(ann).toBe(4)
    expect(reserve.taken).toBe(4)
  })

  it('has some left for one more beside twenty who take all they can', () => {
    const reserve = new Headroom({ bytes: 32, largest: 1 })
    const users = Array.from({ length: 20 }, (_, at) => `greedy-${at}`)
    for (let rounds = 0; rounds < 100; rounds++) for (const user of users) reserve.take(user, 1)
    expect(reserve.taken).toBe(30)
    expect(reserve.take('ann', 1)).toBe(true)
  })

  it('gives no more at once than it may, nor more than there is', () => {
    const reserve = new Headroom({ bytes: 4, largest: 3 })
    expect(reserve.take('ann', 4)).toBe(false)
    expect(reserve.take('ann', 3)).toBe(true)
    expect(reserve.take('bob', 2)).toBe(false)
    expect(reserve.taken).toBe(3)
  })

  it('has again what is given back', () => {
    const reserve = new Headroom({ bytes: 8, largest: 2 })
    reserve.take('ann', 2)
    reserve.give('ann', 1)
    expect(reserve.taken).toBe(1)
    reserve.give('ann', 1)
    expect(reserve.taken).toBe(0)
    expect(reserve.take('ann', 2)).toBe(true)
  })
})
