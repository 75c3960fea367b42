import { expect, onTestFinished, test, vi } from 'vitest'
import { hold, holdAnew } from '../../bench/measure/contest.ts'
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
  const outcome = await hold(contest, { count: 3, warmUpMs: 0, onRound: () => {} })
  expect(turns).toEqual(['a 0', 'b 0', 'a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'b 3'])
  // That of the medians would be 0.7.
  expect(outcome.ratio).toEqual({ median: 0.5, least: 0.1, most: 0.7 })
  expect(outcome.subject.spreads.per_second).toEqual({ median: 70, least: 5, most: 100 })
})

test('both sides are opened anew for each round, and closed after it', async () => {
  const turns: string[] = []
  const side = (name: string, speed: number): Side => ({
    name,
    measure: async (round) => {
      turns.push(`${name} ${round}`)
      return { per_second: speed }
    },
  })
  let opens = 0
  const open = async (opened: AsyncDisposableStack) => {
    opens += 1
    opened.defer(() => void turns.push('closed'))
    return { baseline: side('a', 10), subject: side('b', 10 * opens) }
  }
  const rounds: number[] = []
  const onRound = (round: number): void => void rounds.push(round)
  const outcome = await holdAnew(open, { count: 2, warmUpMs: 0, onRound })
  const once = ['a 0', 'b 0', 'a 1', 'b 1', 'closed']
  expect(turns).toEqual([...once, ...once])
  expect(rounds).toEqual([0, 1, 0, 2])
  expect(outcome.ratio).toEqual({ median: 1.5, least: 1, most: 2 })
  expect(outcome.baseline?.rounds).toHaveLength(2)
})

test('the CPU of the service is compared where both sides are the service', async () => {
  const side = (name: string, cpu: readonly number[]): Side => ({
    name,
    measure: async (round) => ({ service_cpu_ms: cpu[round] ?? 0 }),
  })
  const contest = { baseline: side('a', [1, 2, 4]), subject: side('b', [1, 3, 8]) }
  const rounds = { count: 2, warmUpMs: 0, onRound: () => {} }
  expect(await hold(contest, rounds)).not.toHaveProperty('cpu_ratio')
  const outcome = await hold({ ...contest, comparesCpu: true }, rounds)
  expect(outcome.cpu_ratio).toEqual({ median: 1.75, least: 1.5, most: 2 })
})

test('only the service warms up for long, and no round of that counts', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const side = (name: string, turns: number[]): Side => ({
    name,
    measure: async (round) => {
      turns.push(round)
      vi.advanceTimersByTime(20)
      return { per_second: 1 }
    },
  })
  const turnsOf = async (comparesCpu: boolean) => {
    const turns = { baseline: [] as number[], subject: [] as number[] }
    const baseline = side('a', turns.baseline)
    const subject = side('b', turns.subject)
    const rounds = { count: 1, warmUpMs: 50, onRound: () => {} }
    const outcome = await hold({ baseline, subject, comparesCpu }, rounds)
    expect(outcome.subject.rounds).toHaveLength(1)
    return turns
  }
  expect(await turnsOf(false)).toEqual({ baseline: [0, 1], subject: [0, -1, -2, 1] })
  expect(await turnsOf(true)).toEqual({ baseline: [0, -1, -2, 1], subject: [0, -1, -2, 1] })
})
