import { describe, expect, it } from 'vitest'
import type { Sweeper, SweepRequest } from '../../src/core/sweep/sweeper.ts'
import { createInstruments } from '../../src/metrics/instruments.ts'
import { createClockHooks, meterSweeper } from '../../src/metrics/sweeps.ts'

const NOTHING = {
  expiredUploads: 0,
  removedObjects: 0,
  failedRemovals: 0,
  firstFailure: undefined,
  forgottenUploads: 0,
  purgedRows: 0,
}

describe('a metered sweeper', () => {
  it('passes on how long a sweep may take, and whether the clock is trusted', async () => {
    const requests: SweepRequest[] = []
    const sweeper: Sweeper = {
      sweep: async (request) => {
        requests.push(request)
        return { ...NOTHING, end: 'complete' }
      },
      expire: async () => 0,
    }
    const instruments = createInstruments({ hasPool: false, hasPack: false })
    const { signal } = new AbortController()
    const onWait = () => undefined
    const request = { signal, maxMs: 5, onWait, isClockTrusted: true }
    await meterSweeper(sweeper, instruments).sweep(request)
    expect(requests).toMatchObject([request])
  })
})

describe('the metrics of the clock', () => {
  it('have its lead in seconds, and its jumps by their direction', async () => {
    const instruments = createInstruments({ hasPool: false, hasPack: false })
    const { onLead, onJump } = createClockHooks(instruments)
    onLead(90_000)
    onJump(60_000, 90_000)
    onJump(-60_000, 0)
    const text = await instruments.registry.metrics()
    expect(text).toMatch(/^cloud_repository_clock_lead_seconds 90$/m)
    expect(text).toMatch(/^cloud_repository_clock_jumps_total\{direction="ahead"\} 1/m)
    expect(text).toMatch(/^cloud_repository_clock_jumps_total\{direction="back"\} 1/m)
  })
})
