import { describe, expect, it } from 'vitest'
import type { ClockLedger } from '../../../src/core/clock/clock-ledger.ts'
import { createSafeClock, jumpWarning, type SafeClock } from '../../../src/core/clock/safe-clock.ts'
import { parseSafeTime } from '../../../src/core/clock/safe-time.ts'

const START = 1_800_000_000_000
const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const EVERY = 20 * SECOND

/** A database with a clock, and the machines on which instances run. */
class World {
  steady = 0
  ahead = 0
  stored: string | undefined
  pulledBack = 0
  isFull = false

  readonly ledger: ClockLedger = {
    readClock: async () => ({ now: START + this.steady + this.ahead, stored: this.stored }),
    storeClock: async ({ before, after }) => {
      if (this.isFull) throw new Error('full')
      if (before !== this.stored) return false
      this.stored = after
      return true
    },
    pullBack: async () => void (this.pulledBack += 1),
  }

  get clock(): number {
    return START + this.steady + this.ahead
  }

  /** By how much the clock is ahead of the safe time. */
  get lead(): number {
    return this.clock - (parseSafeTime(this.stored ?? '{}')?.safe ?? Number.NaN)
  }

  /** Each machine counts from another time. */
  instance(boot: string, processTime?: () => number) {
    const jumps: number[] = []
    const leads: number[] = []
    const since = Math.random() * DAY
    const clock = createSafeClock({
      ledger: this.ledger,
      processTime,
      steady: { boot, now: () => since + this.steady },
      leaseMs: 60 * SECOND,
      hooks: { onJump: (ms) => void jumps.push(ms), onLead: (ms) => void leads.push(ms) },
    })
    return { clock, jumps, leads }
  }

  async pass(ms: number, clock: SafeClock): Promise<void> {
    this.steady += ms
    await clock.advance()
  }
}

describe('the safe clock', () => {
  it('begins with the clock, at its first reading', async () => {
    const world = new World()
    const { clock } = world.instance('a')
    expect(await clock.read()).toBe(false)
    expect(world.lead).toBe(0)
    world.ahead = 40 * DAY
    await world.pass(EVERY, clock)
    expect(world.lead).toBe(40 * DAY)
  })

  it('begins anew if a member of what is stored is missing', async () => {
    const world = new World()
    await world.instance('a').clock.advance()
    const complete = world.stored ?? ''
    for (const member of Object.keys(JSON.parse(complete) as object)) {
      world.stored = JSON.stringify({ ...(JSON.parse(complete) as object), [member]: undefined })
      const { clock } = world.instance('b')
      await clock.read()
      await clock.advance()
      expect(parseSafeTime(world.stored ?? '')).toMatchObject({ safe: world.clock })
    }
  })

  it('goes on while instances on two machines take turns', async () => {
    const world = new World()
    const [a, b] = [world.instance('a'), world.instance('b')]
    await a.clock.advance()
    for (let round = 0; round < 20; round++) {
      for (const { clock } of [b, a]) {
        world.steady += EVERY / 2
        await a.clock.read()
        await b.clock.read()
        await clock.advance()
      }
    }
    expect(world.lead).toBe(0)
    world.ahead = 3_650 * DAY
    await world.pass(EVERY, a.clock)
    await world.pass(EVERY, b.clock)
    // A machine may know of less time than has passed since the other one's reading.
    expect(world.lead).toBeGreaterThanOrEqual(3_650 * DAY)
    expect(world.lead).toBeLessThanOrEqual(3_650 * DAY + EVERY)
    expect([...a.jumps, ...b.jumps]).toEqual([3_650 * DAY])
  })

  it('knows how long it was down on a machine that kept running, and no time on another one', async () => {
    const world = new World()
    await world.instance('a').clock.advance()
    world.steady += DAY
    // As all processes of a machine, it counts from when that started.
    const again = createSafeClock({
      ledger: world.ledger,
      steady: { boot: 'a', now: () => Number(parseSafeTime(world.stored ?? '')?.at) + DAY },
      leaseMs: 0,
    })
    await again.advance()
    expect(world.lead).toBe(0)
    world.steady += DAY
    await world.instance('b').clock.advance()
    expect(world.lead).toBe(DAY)
  })

  it('takes the smaller of the two clocks', async () => {
    const world = new World()
    const { clock } = world.instance('a', () => START + world.steady)
    await clock.advance()
    world.ahead = 2 * HOUR
    for (let passed = 0; passed < 10 * HOUR; passed += EVERY) await world.pass(EVERY, clock)
    expect(world.lead).toBe(2 * HOUR)
    world.ahead = -HOUR
    await world.pass(EVERY, clock)
    expect(world.lead).toBe(0)
  })

  it('notices that the database has jumped, and pulls back, while the process has the smaller clock', async () => {
    const world = new World()
    const { clock, jumps } = world.instance('a', () => START + world.steady)
    await clock.advance()
    world.ahead = 40 * DAY
    expect(await clock.read()).toBe(true)
    await world.pass(EVERY, clock)
    world.ahead = 0
    await world.pass(EVERY, clock)
    expect(jumps).toEqual([40 * DAY, -40 * DAY])
    expect(world.pulledBack).toBe(2)
  })

  it('says for the time of a lease that the clock has jumped ahead', async () => {
    const world = new World()
    const { clock } = world.instance('a')
    await clock.advance()
    world.ahead = HOUR
    expect(await clock.read()).toBe(true)
    await clock.advance()
    world.steady += 59 * SECOND
    expect(await clock.read()).toBe(true)
    world.steady += 2 * SECOND
    expect(await clock.read()).toBe(false)
  })

  it('pulls back what waits at its first reading, and whenever the clock goes back', async () => {
    const world = new World()
    const { clock, jumps } = world.instance('a')
    await clock.advance()
    expect(world.pulledBack).toBe(1)
    world.ahead = HOUR
    await world.pass(EVERY, clock)
    expect(world.pulledBack).toBe(1)
    world.ahead = 0
    await world.pass(EVERY, clock)
    await world.pass(EVERY, clock)
    expect(world.pulledBack).toBe(2)
    expect(jumps).toEqual([HOUR, -HOUR])
  })

  it('tells by how much the clock is ahead, also without storing it', async () => {
    const world = new World()
    const { clock, leads } = world.instance('a')
    await clock.advance()
    world.ahead = HOUR
    world.steady += EVERY
    await clock.read()
    expect(leads).toEqual([0, HOUR])
  })

  it('knows the safe time if the database is too full to store it', async () => {
    const world = new World()
    const { clock } = world.instance('a')
    await clock.advance()
    world.isFull = true
    world.steady += HOUR
    await expect(clock.advance()).rejects.toThrow('full')
    expect(clock.safe()).toBe(START + HOUR)
    world.ahead = 40 * DAY
    await expect(clock.advance()).rejects.toThrow('full')
    expect(clock.safe()).toBe(START + HOUR)
  })

  it('believes the clock if an operator vouches for it', async () => {
    const world = new World()
    const { clock } = world.instance('a')
    await clock.advance()
    world.ahead = 40 * DAY
    await world.pass(EVERY, clock)
    await clock.advance({ isTrusted: true })
    expect(world.lead).toBe(0)
  })

  it('says what a jump means', () => {
    expect(jumpWarning(-HOUR, 0)).toBe('the clock jumped back by 3600 s')
    expect(jumpWarning(HOUR, HOUR)).toMatch(
      /^the clock jumped ahead by 3600 s; nothing is destroyed/,
    )
  })
})
