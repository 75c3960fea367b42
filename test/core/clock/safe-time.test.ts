import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  advance,
  type ClockReading,
  elapsedSince,
  jumpOf,
  MAX_HELD_MS,
  type SafeTime,
  trust,
} from '../../../src/core/clock/safe-time.ts'

const BOOT = 'boot'
const START = 1_800_000_000_000
const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const EVERY = 20 * SECOND

function reading(options: Partial<ClockReading>): ClockReading {
  const read = options.read ?? START
  return { read, database: read, at: 0, boot: BOOT, elapsedMs: undefined, ...options }
}

/** A machine whose clock can be wrong, and a service that reads it. */
class Machine {
  steady = 0
  ahead = 0
  boot = BOOT
  time: SafeTime = trust(reading({ at: 0 }))

  get clock(): number {
    return START + this.steady + this.ahead
  }

  /** How often the safe time has gained more than the time that passed. */
  beliefs = 0

  /** Lets time pass, with a reading at the end. */
  pass(ms: number): SafeTime {
    this.steady += ms
    const reached = this.time.safe + ms
    const elapsedMs = elapsedSince(this.time, {
      at: this.steady,
      boot: this.boot,
      seen: undefined,
    })
    this.time = advance(
      this.time,
      reading({ read: this.clock, at: this.steady, boot: this.boot, elapsedMs }),
    )
    if (this.time.safe > reached) this.beliefs += 1
    return this.time
  }

  run(ms: number): void {
    for (let left = ms; left > 0; left -= EVERY) this.pass(Math.min(left, EVERY))
  }

  lead(): number {
    return this.clock - this.time.safe
  }

  /** The machine was off, and starts again with a clock that has gone on. */
  wasOff(ms: number): void {
    this.ahead += ms
    this.boot = `${this.boot}'`
    this.pass(0)
  }
}

describe('the safe time', () => {
  it('is the clock while that does not jump', () => {
    const machine = new Machine()
    machine.run(HOUR)
    expect(machine.time).toMatchObject({ safe: machine.clock, leads: [], stepsBack: 0 })
  })

  it('follows the clock back at once', () => {
    const machine = new Machine()
    machine.ahead = -2 * HOUR
    expect(machine.pass(EVERY)).toMatchObject({ safe: machine.clock, stepsBack: 1 })
  })

  it.each([
    ['40 days', 40 * DAY],
    ['ten years', 3_650 * DAY],
    ['a minute and a half', 90 * SECOND],
  ])('goes on as before while the clock is %s ahead for a minute', (_name, ahead) => {
    const machine = new Machine()
    machine.run(HOUR)
    machine.ahead = ahead
    machine.run(60 * SECOND)
    expect(machine.lead()).toBe(ahead)
    machine.ahead = 0
    machine.pass(EVERY)
    expect(machine.time).toMatchObject({ safe: machine.clock, leads: [], stepsBack: 0 })
  })

  it.each([
    ['an hour', HOUR, HOUR],
    ['three days', 3 * DAY, MAX_HELD_MS],
    ['ten years', 3_650 * DAY, MAX_HELD_MS],
  ])('believes a lead of %s once it has held', (_name, ahead, heldMs) => {
    const machine = new Machine()
    machine.wasOff(ahead)
    machine.run(heldMs - EVERY)
    expect(machine.lead()).toBe(ahead)
    machine.run(2 * EVERY)
    expect(machine.lead()).toBe(0)
  })

  it('believes no jump that begins while a downtime is held', () => {
    const machine = new Machine()
    machine.wasOff(3 * DAY)
    machine.run(DAY - HOUR)
    machine.ahead += 3_650 * DAY
    machine.run(2 * HOUR)
    // Only the downtime.
    expect(machine.lead()).toBe(3_650 * DAY)
  })

  it('keeps what has held if the clock goes back by a part of the lead', () => {
    const machine = new Machine()
    machine.wasOff(3 * DAY)
    machine.run(DAY - HOUR)
    machine.ahead -= DAY
    machine.run(HOUR + EVERY)
    expect(machine.lead()).toBe(0)
  })

  it('keeps up with a machine that runs for eight hours a day', () => {
    const machine = new Machine()
    for (let day = 0; day < 30; day++) {
      machine.run(8 * HOUR)
      machine.wasOff(16 * HOUR)
    }
    expect(machine.lead()).toBeLessThanOrEqual(3 * 16 * HOUR)
    expect(machine.time.leads.length).toBeLessThan(10)
  })

  it('takes a clock that runs a little fast for a few leads', () => {
    const machine = new Machine()
    for (let reading = 0; reading < 10_000; reading++) {
      machine.ahead += 1
      machine.pass(EVERY)
    }
    expect(machine.lead()).toBeLessThanOrEqual(2)
    expect(machine.time.leads.length).toBeLessThanOrEqual(1)
  })

  const excursions = fc.array(
    fc.record({
      /** Of a clock that is wrong, in readings. */
      readings: fc.integer({ min: 1, max: 30 }),
      ahead: fc.oneof(
        fc.integer({ min: 31 * EVERY, max: 3_650 * DAY }),
        fc.integer({ min: -3_650 * DAY, max: -1 }),
      ),
      /** Of a right clock, before it. */
      right: fc.integer({ min: 1, max: 20 }),
    }),
    { minLength: 1, maxLength: 8 },
  )

  const periods = fc.oneof(fc.integer({ min: 1, max: HOUR }), fc.integer({ min: 1, max: 40 * DAY }))

  it('believes no clock that is ahead for less time than it is ahead by', () => {
    const ahead = excursions.map((jumps) => jumps.filter((jump) => jump.ahead > 0))
    fc.assert(
      fc.property(ahead, (jumps) => {
        const machine = new Machine()
        for (const { readings, ahead: ms, right } of jumps) {
          machine.ahead = 0
          machine.run(right * EVERY)
          machine.ahead = ms
          machine.run(readings * EVERY)
        }
        expect(machine.beliefs).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  it('G10 destroys nothing before its period has passed, whenever it was written and however the clock jumps', () => {
    fc.assert(
      fc.property(excursions, periods, (jumps, period) => {
        const machine = new Machine()
        const written: { readonly at: number; readonly due: number; readonly beliefs: number }[] =
          []
        const step = (): void => {
          machine.pass(EVERY)
          expect(machine.time.safe).toBeLessThanOrEqual(machine.clock)
          const { beliefs: believed, time, steady } = machine
          const isEarly = (row: (typeof written)[number]): boolean =>
            row.beliefs === believed && row.due <= time.safe && steady < row.at + period
          expect(written.filter(isEarly)).toEqual([])
          const { steady: at, clock, beliefs } = machine
          written.push({ at, due: clock + period, beliefs })
        }
        for (const { readings, ahead, right } of jumps) {
          machine.ahead = 0
          for (let reading = 0; reading < right; reading++) step()
          machine.ahead = ahead
          for (let reading = 0; reading < readings; reading++) step()
        }
      }),
      { numRuns: 300 },
    )
  })

  it('destroys late by no more than a downtime, and for no more than a day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 * DAY }), (downtime) => {
        const machine = new Machine()
        machine.wasOff(downtime)
        machine.run(Math.min(downtime, DAY) + EVERY)
        expect(machine.lead()).toBe(0)
      }),
      { numRuns: 50 },
    )
  })
})

describe('the time since a reading', () => {
  const time = trust(reading({ at: 5_000 }))

  it('is known on the same machine, also to another process', () => {
    expect(elapsedSince(time, { at: 8_000, boot: BOOT, seen: undefined })).toBe(3_000)
  })

  it('is unknown after the machine has started again, or to another machine', () => {
    expect(elapsedSince(time, { at: 8_000, boot: 'other', seen: undefined })).toBeUndefined()
    expect(elapsedSince(time, { at: 4_000, boot: BOOT, seen: undefined })).toBeUndefined()
  })

  it('the time since a reading of another machine follows from when this one has seen an earlier safe time', () => {
    const seen = { time: { ...time, safe: START - 12_000 }, at: 100_000 }
    expect(elapsedSince(time, { at: 120_000, boot: 'other', seen })).toBe(8_000)
    expect(elapsedSince(time, { at: 105_000, boot: 'other', seen })).toBe(0)
    const turned = { ...time, stepsBack: 1 }
    expect(elapsedSince(turned, { at: 120_000, boot: 'other', seen })).toBeUndefined()
  })
})

describe('a jump', () => {
  const time = trust(reading({ at: 0 }))

  it('is what the clock has moved beside the time that has passed', () => {
    const passed = { leastMs: 20_000, mostMs: 20_000 }
    expect(jumpOf(time, reading({ read: START + 20_000 }), passed)).toBe(0)
    expect(jumpOf(time, reading({ read: START + HOUR }), passed)).toBe(HOUR - 20_000)
    expect(jumpOf(time, reading({ read: START - HOUR }), passed)).toBe(-HOUR - 20_000)
  })

  it('is what it has moved beyond the bounds of that time, where only these are known', () => {
    const passed = { leastMs: 0, mostMs: 20_000 }
    expect(jumpOf(time, reading({ read: START + 15_000 }), passed)).toBe(0)
    expect(jumpOf(time, reading({ read: START + HOUR }), passed)).toBe(HOUR - 20_000)
    expect(jumpOf(time, reading({ read: START - HOUR }), passed)).toBe(-HOUR)
    expect(jumpOf(time, reading({ read: START + DAY }), { leastMs: 0, mostMs: Infinity })).toBe(0)
  })

  it('a jump of the database counts also while the process has the smaller clock, and the other way round', () => {
    const passed = { leastMs: 0, mostMs: 0 }
    expect(jumpOf(time, reading({ database: START + DAY }), passed)).toBe(DAY)
    const ahead = { ...time, database: START + DAY }
    expect(jumpOf(ahead, reading({ database: START }), passed)).toBe(-DAY)
    expect(jumpOf(time, reading({ read: START - DAY, database: START }), passed)).toBe(-DAY)
  })
})
