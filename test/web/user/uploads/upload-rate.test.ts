import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createUploadRate } from '../../../../web/user/uploads/upload-rate.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('a rate is that of the last seconds, and 0 soon after nothing is sent any more', () => {
  const rate = createUploadRate()
  for (let sent = 0; sent <= 4_000; sent += 500) {
    rate.note(sent)
    vi.advanceTimersByTime(500)
  }
  expect(rate.perSecond()).toBe(1000)
  vi.advanceTimersByTime(1_500)
  expect(rate.perSecond()).toBe(1000)
  // The same total again is no progress.
  rate.note(4_000)
  vi.advanceTimersByTime(600)
  expect(rate.perSecond()).toBe(0)
  rate.note(5_000)
  vi.advanceTimersByTime(100)
  expect(rate.perSecond()).toBeGreaterThan(0)
})
