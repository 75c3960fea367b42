import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TurnBudget } from '../../../src/core/async/turn-budget.ts'

let nowMs = 0
beforeEach(() => {
  nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => vi.restoreAllMocks())

const { signal } = new AbortController()

/** Work that takes so long, and notes when it ran. */
function work(ran: string[], name: string, ms: number): () => string {
  return () => {
    ran.push(name)
    nowMs += ms
    return name
  }
}

it('runs what fits into the turn at once, and the rest in later turns and in order', async () => {
  const budget = new TurnBudget(2)
  const ran: string[] = []
  const names = ['a', 'b', 'c', 'd', 'e']
  const done = names.map((name) => budget.run(work(ran, name, 1), signal))
  expect(ran).toEqual(['a', 'b'])
  await turn()
  expect(ran).toEqual(['a', 'b', 'c', 'd'])
  done.push(budget.run(work(ran, 'f', 5), signal))
  done.push(budget.run(work(ran, 'g', 1), signal))
  await turn()
  expect(ran).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  await turn()
  expect(await Promise.all(done)).toEqual([...names, 'f', 'g'])
  await turn()
  await budget.run(work(ran, 'h', 1), signal)
  expect(ran.at(-1)).toBe('h')
})

it('passes on an error, and does not run what nobody waits for any more', async () => {
  const budget = new TurnBudget(2)
  const ran: string[] = []
  await expect(
    budget.run(() => {
      nowMs += 2
      throw new Error('broken')
    }, signal),
  ).rejects.toThrow('broken')
  const left = new AbortController()
  const gone = budget.run(work(ran, 'a', 1), left.signal)
  const stays = budget.run(work(ran, 'b', 1), signal)
  left.abort(new Error('left'))
  await expect(gone).rejects.toThrow('left')
  await stays
  expect(ran).toEqual(['b'])
})
