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
        for (let steps = 0; all.some(({ left }) => left > 0); steps++) {
          const ready = all.filter(({ left, isWaiting }) => left > 0 && !isWaiting)
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

/** Gathers parts in steps of any size, and gives each back when it is whole. */
class Gatherer implements Tenant {
  turn: number
  left: number
  isWaiting = false
  readonly #room: MemoryRoom
  readonly #part: number
  readonly #books: Books
  #held = 0

  constructor(room: MemoryRoom, options: { left: number; part: number; books: Books }) {
    this.#room = room
    this.#part = options.part
    this.#books = options.books
    this.left = options.left
    this.turn = options.books.turn++
  }

  step(wanted: number): void {
    const missing = Math.min(this.#part, this.left) - this.#held
    if (missing === 0) this.#giveBack()
    else this.#ask(1 + (wanted % missing))
  }

  #ask(bytes: number): void {
    const grant = (): void => {
      this.isWaiting = false
      this.#held += bytes
      this.#books.taken += bytes
    }
    if (this.#room.take(this, bytes)) {
      grant()
      return
    }
    this.isWaiting = true
    this.#room.claim(this, { bytes, grant })
  }

  #giveBack(): void {
    const given = this.#held
    this.#held = 0
    this.left -= given
    this.#books.taken -= given
    this.turn = this.#books.turn++
    this.#room.give(this, given)
  }
}
