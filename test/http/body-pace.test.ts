import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchBodyPace } from '../../src/http/body-pace.ts'

const idleTimeoutMs = 60_000
const onTooSlow = vi.fn<() => void>()
let isOurTurn = false

beforeEach(() => {
  vi.useFakeTimers()
  onTooSlow.mockReset()
  isOurTurn = false
})

afterEach(() => vi.useRealTimers())

function watch() {
  return watchBodyPace({ idleTimeoutMs, isWaiting: () => !isOurTurn, onTooSlow })
}

function pass(seconds: number): void {
  vi.advanceTimersByTime(seconds * 1000)
}

test('silence is over after the idle timeout, whatever came before', () => {
  const pace = watch()
  pass(30)
  pace.count(2 ** 30)
  pass(59)
  expect(onTooSlow).not.toHaveBeenCalled()
  pass(2)
  expect(onTooSlow).toHaveBeenCalledOnce()
  pass(300)
  expect(onTooSlow).toHaveBeenCalledOnce()
})

test.each([
  [1000, 1],
  [1100, 0],
])('%d bytes a second for five minutes: called %d times', (rate, times) => {
  const pace = watch()
  for (let second = 0; second < 300; second += 1) {
    pass(1)
    pace.count(rate)
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
