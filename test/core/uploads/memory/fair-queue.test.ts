import { array, assert, infiniteStream, integer, nat, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryRoom } from '../../../../src/core/uploads/memory/fair-queue.ts'

const NO_RESERVE = { bytes: 0, largest: 0 }

/** `claim` claims for a user; `granted` holds the users whose claims were, in that order. */
function bed(bytes: number, keptForClaims: number, reserve = NO_RESERVE) {
  const room = new MemoryRoom({ bytes, keptForClaims, reserve })
  const granted: string[] = []
  const claim = (userId: string, wanted: number): (() => void) =>
    room.claim({ userId, bytes: wanted, grant: () => granted.push(userId) })
  return { room, granted, claim }
}

describe('MemoryRoom', () => {
  it('hands out what is there, and no more', () => {
    const { room, claim, granted } = bed(10, 0)
    expect(room.take('zed', 6)).toBe(true)
    expect(room.take('zed', 5)).toBe(false)
    claim('ann', 5)
    expect(granted).toEqual([])
    expect({ free: room.free, lacking: room.lacking }).toEqual({
      free: 4,
      lacking: { first: 1, all: 1 },
    })
    expect([room.taken, room.waiting]).toEqual([6, 1])
  })

  it('lets those who wait have what is given back, in the order in which they came', () => {
    const { room, granted, claim } = bed(10, 0)
    room.take('zed', 10)
    claim('ann', 4)
    claim('bob', 4)
    expect(room.lacking).toEqual({ first: 4, all: 8 })
    room.give('zed', 4)
    expect(granted).toEqual(['ann'])
    room.give('zed', 4)
    expect(granted).toEqual(['ann', 'bob'])
  })

  it('lets nobody overtake a larger claim that waits', () => {
    const { room, claim, granted } = bed(10, 0)
    room.take('zed', 6)
    claim('ann', 5)
    expect(room.take('zed', 1)).toBe(false)
    claim('bob', 1)
    expect(granted).toEqual([])
  })

  it('forgets a claim that is withdrawn, and serves those behind it', () => {
    const { room, claim, granted } = bed(10, 0)
    room.take('zed', 6)
    const withdraw = claim('ann', 5)
    claim('bob', 1)
    withdraw()
    expect(granted).toEqual(['bob'])
  })

  it('keeps some of it for claims', () => {
    const { room, claim, granted } = bed(10, 4)
    expect(room.take('zed', 7)).toBe(false)
    expect(room.take('zed', 6)).toBe(true)
    expect(room.free).toBe(0)
    claim('ann', 4)
    expect(granted).toEqual(['ann'])
    expect(room.free).toBe(-4)
  })

  it('serves users in turn, however many claims one has', () => {
    const { room, claim, granted } = bed(1, 0)
    room.take('zed', 1)
    for (let claims = 0; claims < 5; claims++) claim('crowd', 1)
    claim('ann', 1)
    claim('ann', 1)
    room.give(granted.at(-1) ?? 'zed', 1)
    claim('bob', 1)
    for (let gifts = 0; gifts < 7; gifts++) room.give(granted.at(-1) ?? 'zed', 1)
    const others = ['crowd', 'ann', 'bob', 'crowd', 'ann']
    expect(granted).toEqual([...others, 'crowd', 'crowd', 'crowd'])
  })

  it('lets a user who comes anew begin where the line is', () => {
    const { room, claim, granted } = bed(1, 0)
    room.take('zed', 1)
    for (let claims = 0; claims < 6; claims++) claim('ann', 1)
    for (let gifts = 0; gifts < 3; gifts++) room.give(granted.at(-1) ?? 'zed', 1)
    for (let claims = 0; claims < 3; claims++) claim('bob', 1)
    for (let gifts = 0; gifts < 6; gifts++) room.give(granted.at(-1) ?? 'zed', 1)
    expect(granted.slice(3)).toEqual(['bob', 'ann', 'bob', 'ann', 'bob', 'ann'])
  })

  it('does not forget a turn that a user has just had', () => {
    const { room, claim, granted } = bed(1, 0)
    room.take('zed', 1)
    for (let claims = 0; claims < 4; claims++) claim('ann', 1)
    for (let rounds = 0; rounds < 4; rounds++) {
      claim('bob', 1)
      room.give(granted.at(-1) ?? 'zed', 1)
      room.give(granted.at(-1) ?? 'zed', 1)
    }
    expect(granted).toEqual(['ann', 'bob', 'ann', 'bob', 'ann', 'bob', 'ann', 'bob'])
  })

  it('tells for how long one has been the first in line', () => {
    const { room, claim } = bed(1, 0)
    room.take('zed', 1)
    const withdraw = claim('ann', 1)
    claim('bob', 1)
    for (let ticks = 0; ticks < 3; ticks++) room.tick(100)
    expect(room.firstWaitedMs).toBe(200)
    withdraw()
    expect(room.firstWaitedMs).toBe(0)
    expect(room.first?.userId).toBe('bob')
  })

  it('serves a small claim of a user who has little from its reserve, though others wait', () => {
    const { room, claim, granted } = bed(10, 0, { bytes: 8, largest: 2 })
    room.take('zed', 10)
    claim('ann', 3)
    claim('bob', 2)
    expect(granted).toEqual(['bob'])
    expect([room.taken, room.waiting]).toEqual([12, 1])
    room.give('bob', 2)
    expect([room.taken, room.free]).toEqual([10, 0])
  })

  it('serves those who wait also from what its reserve has again', () => {
    const { room, claim, granted } = bed(10, 0, { bytes: 3, largest: 2 })
    room.take('zed', 10)
    claim('ann', 2)
    claim('ann', 2)
    claim('bob', 2)
    expect(granted).toEqual(['ann'])
    room.give('ann', 2)
    expect(granted).toEqual(['ann', 'ann'])
    room.give('zed', 2)
    expect(granted).toEqual(['ann', 'ann', 'bob'])
    expect([room.taken, room.free]).toEqual([12, 0])
  })

  it('serves the first in line within a turn of the others, however many small claims they have', () => {
    const { room, claim, granted } = bed(128, 8, { bytes: 32, largest: 2 })
    const users = Array.from({ length: 20 }, (_, at) => `crowd-${at}`)
    for (let rounds = 0; rounds < 60; rounds++) for (const user of users) claim(user, 1)
    claim('ann', 8)
    for (let gifts = 0; !granted.includes('ann'); gifts++) {
      expect(gifts).toBeLessThan(100)
      // Whoever gives back claims as much again.
      const user = users[gifts % users.length] ?? ''
      room.give(user, 1)
      claim(user, 1)
    }
  })

  it('counts no turn for what its reserve serves, nor for what is withdrawn', () => {
    const { room, claim, granted } = bed(10, 0, { bytes: 1, largest: 1 })
    room.take('zed', 10)
    for (let rounds = 0; rounds < 50; rounds++) {
      claim('ann', 1)
      room.give('ann', 1)
      claim('ann', 2)()
    }
    for (let claims = 0; claims < 3; claims++) claim('bob', 5)
    claim('ann', 5)
    granted.length = 0
    room.give('zed', 10)
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
        const room = new MemoryRoom({ bytes, keptForClaims: part, reserve })
        const books = { taken: 0 }
        const all = uploads.map((left, at) => {
          return new Gatherer(room, { left, part, books, userId: `user-${at % 3}` })
        })
        for (let steps = 0; all.some(({ isOver }) => !isOver); steps++) {
          const ready = all.filter(({ isStuck }) => !isStuck)
          const next = ready[choose() % ready.length]
          if (next === undefined || steps > 10_000) throw new Error('a standstill')
          next.step(choose())
          expect(books.taken).toBeLessThanOrEqual(bytes + reserve.bytes)
          expect(room.taken).toBe(books.taken)
        }
        expect(room.free).toBe(bytes - part)
        expect(room.taken).toBe(0)
      }),
    )
  })
})

interface GathererOptions {
  readonly left: number
  readonly part: number
  readonly userId: string
  /** What all of them together have. */
  readonly books: { taken: number }
}

/** Gathers parts in steps of any size, the next one also while those before it are under way, and gives each back. */
class Gatherer {
  left: number
  readonly #room: MemoryRoom
  readonly #options: GathererOptions
  #isWaiting = false
  #held = 0
  readonly #underWay: number[] = []

  constructor(room: MemoryRoom, options: GathererOptions) {
    this.#room = room
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
    if (this.#room.take(this.#options.userId, bytes)) {
      this.#add(bytes)
      return
    }
    this.#isWaiting = true
    const grant = (): void => {
      this.#isWaiting = false
      this.#add(missing)
    }
    this.#room.claim({ userId: this.#options.userId, bytes: missing, grant })
  }

  #add(bytes: number): void {
    this.#held += bytes
    this.#options.books.taken += bytes
  }

  #giveBack(): void {
    const given = this.#underWay.shift()
    if (given === undefined) return
    this.#options.books.taken -= given
    this.#room.give(this.#options.userId, given)
  }
}

const MOST_UNDER_WAY = 2
