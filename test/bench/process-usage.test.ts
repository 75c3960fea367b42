import { expect, test } from 'vitest'
import { parseStat } from '../../bench/process-usage.ts'

test('the ticks of a process are its own and those of children that have ended', () => {
  const stat = '4242 (a) b (c)) S 17 4242 4242 0 -1 4194560 1 2 3 4 100 20 7 3 20 0 11 0 5 6 7'
  expect(parseStat(stat)).toEqual({ pid: 4242, parent: 17, ticks: 130, endedTicks: 10 })
})
