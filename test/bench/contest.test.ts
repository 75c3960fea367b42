import { expect, test } from 'vitest'
import { hold } from '../../bench/measure/contest.ts'
import type { Side } from '../../bench/scenario.ts'

test('both sides are measured in turns, and a ratio is that of one round', async () => {
  const turns: string[] = []
  const side = (name: string, speeds: readonly number[]): Side => ({
    name,
    measure: async (round) => {
      turns.push(`${name} ${round}`)
      return { per_second: speeds[round] ?? 0 }
    },
  })
  const contest = { baseline: side('a', [1, 10, 100, 1000]), subject: side('b', [1, 5, 70, 100]) }
  const outcome = await hold(contest, { count: 3, warmsUp: true, onRound: () => {} })
  expect(turns).toEqual(['a 0', 'b 0', 'a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'b 3'])
  // That of the medians would be 0.7.
  expect(outcome.ratio).toEqual({ median: 0.5, least: 0.1, most: 0.7 })
  expect(outcome.subject.spreads.per_second).toEqual({ median: 70, least: 5, most: 100 })
})
