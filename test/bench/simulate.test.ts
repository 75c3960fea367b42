import { describe, expect, it } from 'vitest'
import { type Simulation, simulate } from '../../bench/programs/scaling/simulate.ts'

const ONE_EACH = { service: 1, database: 1, object_store: 1, generator: 1 }

describe('the simulation of a deployment', () => {
  const run = (changed: Partial<Simulation>) =>
    simulate({
      operations: [{ steps: [{ at: 'service', ms: 10 }], weight: 1 }],
      capacity: ONE_EACH,
      arrivals: { perSecond: 70 },
      count: 60_000,
      seed: 1,
      ...changed,
    })

  it('queues as theory says: the median and the 99th percentile of M/M/1', () => {
    const { perSecond, p50Ms, p99Ms, busy } = run({})
    const meanMs = 10 / (1 - 0.7)
    expect(perSecond / 70).toBeCloseTo(1, 1)
    expect(busy.service).toBeCloseTo(0.7, 1)
    expect(p50Ms / (meanMs * Math.log(2))).toBeCloseTo(1, 1)
    expect(p99Ms / (meanMs * Math.log(100))).toBeCloseTo(1, 1)
  })

  it('is as fast as the station that is busy all the time', () => {
    const steps = [
      { at: 'service', ms: 1 },
      { ms: 5 },
      { at: 'database', ms: 4 },
      { at: 'service', ms: 1 },
    ] as const
    const operations = [{ steps, weight: 1 }]
    const arrivals = { clients: 64 }
    expect(run({ operations, arrivals }).perSecond / 250).toBeCloseTo(1, 1)
    const more = { ...ONE_EACH, database: 4 }
    expect(run({ operations, arrivals, capacity: more }).perSecond / 500).toBeCloseTo(1, 1)
    const onOne = run({ operations, arrivals, capacity: more, cores: 1 })
    expect(onOne.perSecond / (1000 / 6)).toBeCloseTo(1, 1)
  })

  it('gives each instance requests of its own, which wait there', () => {
    const two = { ...ONE_EACH, service: 2 }
    const { p50Ms } = run({ capacity: two, arrivals: { perSecond: 140 } })
    expect(p50Ms / ((10 / 0.3) * Math.log(2))).toBeCloseTo(1, 1)
  })

  it('chooses operations by weight', () => {
    const at = (ms: number, weight: number) => ({ steps: [{ at: 'service', ms }], weight }) as const
    const { busy } = run({ operations: [at(10, 1), at(5, 4)], arrivals: { perSecond: 50 } })
    expect(busy.service).toBeCloseTo(0.3, 1)
  })
})
