import { fastify } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { startBackgroundJobs } from '../../src/compose/background-jobs.ts'
import type { Sweeper, SweepReport } from '../../src/core/sweep/sweeper.ts'

const REPORT: SweepReport = {
  expiredUploads: 0,
  removedObjects: 0,
  failedRemovals: 0,
  firstFailure: undefined,
  forgottenUploads: 0,
  purgedRows: 0,
  end: 'complete',
}

let stop = async (): Promise<void> => undefined

afterEach(() => stop())

function start(sweeper: Sweeper, sweepIntervalMs = 5): void {
  const jobs = startBackgroundJobs({
    sweeper,
    recordUses: async () => undefined,
    stopAsked: async () => undefined,
    noteGrants: async () => undefined,
    recordDay: async () => undefined,
    deliverWebhooks: async () => undefined,
    makeBackups: async () => undefined,
    logger: fastify().log,
    intervals: { sweepIntervalMs },
  })
  stop = () => jobs.stop()
}

describe('the background jobs', () => {
  it('abort at once what has expired before the start', () => {
    let expiries = 0
    start({ sweep: async () => REPORT, expire: async () => (expiries += 1) }, 60_000)
    expect(expiries).toBe(1)
  })

  it('abort expired uploads also while a sweep takes long', async () => {
    let [sweeps, expiries] = [0, 0]
    start({
      sweep: ({ signal }) => {
        sweeps += 1
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
      expire: async () => (expiries += 1),
    })
    await expect.poll(() => sweeps).toBe(1)
    const before = expiries
    await expect.poll(() => expiries).toBeGreaterThan(before + 3)
    expect(sweeps).toBe(1)
  })

  it('give a sweep a minute, so that the next one finds users who were deleted meanwhile', async () => {
    const limits: unknown[] = []
    const sweep: Sweeper['sweep'] = async ({ maxMs }) => {
      limits.push(maxMs)
      return REPORT
    }
    start({ sweep, expire: async () => 0 })
    await expect.poll(() => limits[0]).toBe(60_000)
  })

  it('rest after a sweep that took long, instead of making up for those that were missed', async () => {
    const [begun, ended]: [number[], number[]] = [[], []]
    start({
      sweep: async () => {
        begun.push(performance.now())
        if (begun.length === 1) await new Promise((resolve) => setTimeout(resolve, 100))
        ended.push(performance.now())
        return REPORT
      },
      expire: async () => 0,
    })
    await expect.poll(() => begun.length).toBeGreaterThan(4)
    for (const [index, at] of begun.slice(1, 5).entries()) {
      // Timers may be a millisecond early by this clock.
      expect(at - (ended[index] ?? 0)).toBeGreaterThanOrEqual(4)
    }
  })

  it('go on after one has failed, and end when they are stopped', async () => {
    let sweeps = 0
    const fail = async (): Promise<never> => {
      sweeps += 1
      throw new Error('an outage')
    }
    start({ sweep: fail, expire: fail })
    await expect.poll(() => sweeps).toBeGreaterThan(4)
    await stop()
    const before = sweeps
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(sweeps).toBe(before)
  })
})
