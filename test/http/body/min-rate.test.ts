import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchMinRate } from '../../../src/http/body/min-rate.ts'

const idleTimeoutMs = 60_000
const onTooSlow = vi.fn<() => void>()
let isOurTurn = false
let total = 0

beforeEach(() => {
  vi.useFakeTimers()
  onTooSlow.mockReset()
  isOurTurn = false
  total = 0
})

afterEach(() => vi.useRealTimers())

function watch() {
  return watchMinRate({ idleTimeoutMs, total: () => total, isWaiting: () => !isOurTurn, onTooSlow })
}

function pass(seconds: number): void {
  vi.advanceTimersByTime(seconds * 1000)
}

test('silence is over after the idle timeout, whatever came before', () => {
  watch()
  pass(30)
  total += 2 ** 30
  pass(57)
  expect(onTooSlow).not.toHaveBeenCalled()
  pass(6)
  expect(onTooSlow).toHaveBeenCalledOnce()
  pass(300)
  expect(onTooSlow).toHaveBeenCalledOnce()
})

test.each([
  [1000, 1],
  [1100, 0],
])('%d bytes a second for five minutes: called %d times', (rate, times) => {
  watch()
  for (let second = 0; second < 300; second += 1) {
    pass(1)
    total += rate
  }
  expect(onTooSlow).toHaveBeenCalledTimes(times)
})

test('time in which the body is not read does not count', () => {
  watch()
  pass(50)
  isOurTurn = true
  pass(3600)
  isOurTurn = false
  pass(8)
  expect(onTooSlow).not.toHaveBeenCalled()
  pass(4)
  expect(onTooSlow).toHaveBeenCalledOnce()
})

test('a stopped watch calls nothing', () => {
  watch().stop()
  pass(3600)
  expect(onTooSlow).not.toHaveBeenCalled()
})
