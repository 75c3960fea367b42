import { array, assert, infiniteStream, integer, nat, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryRoom, type Tenant } from '../../src/core/memory-room.ts'

/** Asks for bytes and says whether they came at once; `granted` holds those that came later. */
function bed(bytes: number, reserve: number) {
  const room = new MemoryRoom({ bytes, reserve })
  const granted: Tenant[] = []
  const ask = (tenant: Tenant, wanted: number): (() => void) | undefined =>
    room.take(tenant, wanted)
      ? undefined
      : room.claim(tenant, { bytes: wanted, grant: () => granted.push(tenant) })
  return { room, granted, ask }
}

const tenants = (count: number): Tenant[] => Array.from({ length: count }, (_, turn) => ({ turn }))

describe('MemoryRoom', () => {
  it('hands out what is there, and no more', () => {
    const { room, ask } = bed(10, 0)
    const [a, b] = tenants(2) as [Tenant, Tenant]
    expect(ask(a, 6)).toBeUndefined()
    expect(ask(b, 5)).toBeTypeOf('function')
    expect(room.free).toBe(4)
    expect(room.wanted).toBe(5)
    expect([room.taken, room.waiting]).toEqual([6, 1])
  })

  it('lets those who wait have what is given back, by turn and not by when they asked', () => {
    const { room, granted, ask } = bed(10, 0)
    const [a, b, c] = tenants(3) as [Tenant, Tenant, Tenant]
    ask(a, 10)
    ask(c, 4)
    ask(b, 4)
    room.give(a, 4)
    expect(granted).toEqual([b])
    room.give(a, 4)
    expect(granted).toEqual([b, c])
  })

  it('lets nobody overtake a larger claim that waits', () => {
    const { ask, granted } = bed(10, 0)
    const [a, b, c] = tenants(3) as [Tenant, Tenant, Tenant]
    ask(a, 6)
    ask(b, 5)
    expect(ask(c, 1)).toBeTypeOf('function')
    expect(granted).toEqual([])
  })

  it('forgets a claim that is withdrawn, and serves those behind it', () => {
    const { ask, granted } = bed(10, 0)
    const [a, b, c] = tenants(3) as [Tenant, Tenant, Tenant]
    ask(a, 6)
    const withdraw = ask(b, 5)
    ask(c, 1)
    withdraw?.()
    expect(granted).toEqual([c])
  })

  it('lets one tenant at a time into the reserve, before all others and until it gives back', () => {
    const { room, ask, granted } = bed(10, 4)
    const [a, b, c] = tenants(3) as [Tenant, Tenant, Tenant]
    expect(ask(a, 6)).toBeUndefined()
    expect(ask(b, 2)).toBeUndefined()
    expect(ask(a, 1)).toBeTypeOf('function')
    expect(ask(c, 1)).toBeTypeOf('function')
    expect(ask(b, 2)).toBeUndefined()
    expect(room.free).toBe(0)
    room.give(b, 4)
    expect(granted).toEqual([a])
    room.give(a, 7)
    expect(granted).toEqual([a, c])
  })

  it('never comes to a standstill, nor hands out more than there is', () => {
    const part = 8
    const plan = record({
      bytes: integer({ min: part, max: 64 }),
      uploads: array(integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
      choices: infiniteStream(nat()),
    })
    assert(
      property(plan, ({ bytes, uploads, choices }) => {
        const choose = (): number => Number(choices.next().value)
        const room = new MemoryRoom({ bytes, reserve: part })
        const books = { turn: 0, taken: 0 }
        const all = uploads.map((left) => new Gatherer(room, { left, part, books }))
        for (let steps = 0; all.some(({ isOver }) => !isOver); steps++) {
          const ready = all.filter(({ isStuck }) => !isStuck)
          const next = ready[choose() % ready.length]
          if (next === undefined || steps > 10_000) throw new Error('a standstill')
          next.step(choose())
          expect(books.taken).toBeLessThanOrEqual(bytes)
        }
        expect(room.free).toBe(bytes - part)
      }),
    )
  })
})

/** What all of them together have done. */
interface Books {
  turn: number
  taken: number
}

/** Gathers parts in steps of any size, the next one also while those before it are under way, and gives each back. */
class Gatherer implements Tenant {
  turn: number
  left: number
  readonly #room: MemoryRoom
  readonly #part: number
  readonly #books: Books
  #isWaiting = false
  #held = 0
  readonly #underWay: number[] = []

  constructor(room: MemoryRoom, options: { left: number; part: number; books: Books }) {
    this.#room = room
    this.#part = options.part
    this.#books = options.books
    this.left = options.left
    this.turn = options.books.turn++
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
    const missing = Math.min(this.#part, this.left) - this.#held
    if (missing > 0) {
      this.#ask(1 + (choice % missing))
      return
    }
    this.left -= this.#held
    this.#underWay.push(this.#held)
    this.#held = 0
    this.#room.gathered(this)
    this.turn = this.#books.turn++
  }

  #ask(bytes: number): void {
    const grant = (): void => {
      this.#isWaiting = false
      this.#held += bytes
      this.#books.taken += bytes
    }
    if (this.#room.take(this, bytes)) {
      grant()
      return
    }
    this.#isWaiting = true
    this.#room.claim(this, { bytes, grant })
  }

  #giveBack(): void {
    const given = this.#underWay.shift()
    if (given === undefined) return
    this.#books.taken -= given
    this.#room.give(this, given)
  }
}

const MOST_UNDER_WAY = 2
