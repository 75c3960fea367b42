import { setImmediate as iteration } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LoopTurns } from '../../../src/core/async/loop-turns.ts'

let nowMs = 0
let ran: string[] = []
beforeEach(() => {
  nowMs = 0
  ran = []
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => vi.restoreAllMocks())

/** Work that takes so long, and notes that it ran. */
function work(name: string, ms: number): () => void {
  return () => {
    ran.push(name)
    nowMs += ms
  }
}

it('work that fits into the iteration of the event loop runs at once, and the rest in later ones', async () => {
  const turns = new LoopTurns(2)
  for (const name of ['a', 'b', 'c', 'd', 'e']) turns.add('ann', work(name, 1))
  expect(ran).toEqual(['a', 'b'])
  await iteration()
  expect(ran).toEqual(['a', 'b', 'c', 'd'])
  turns.add('ann', work('f', 5))
  turns.add('ann', work('g', 1))
  await iteration()
  expect(ran).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  await iteration()
  expect(ran.at(-1)).toBe('g')
  await iteration()
  turns.add('ann', work('h', 1))
  expect(ran.at(-1)).toBe('h')
})

it('owners take turns, and the work of one keeps its order', async () => {
  const turns = new LoopTurns(1)
  for (const name of ['a', 'b', 'c']) turns.add('ann', work(name, 1))
  for (const name of ['d', 'e']) turns.add('bob', work(name, 1))
  while (ran.length < 5) await iteration()
  expect(ran).toEqual(['a', 'b', 'd', 'c', 'e'])
})

it('work that adds itself runs once per turn, behind that of others', async () => {
  const turns = new LoopTurns(1)
  const again = (): void => {
    work('again', 1)()
    if (ran.length < 4) turns.add('ann', again)
  }
  turns.add('ann', again)
  turns.add('ann', again)
  turns.add('bob', work('other', 1))
  await iteration()
  await iteration()
  await iteration()
  expect(ran).toEqual(['again', 'again', 'other', 'again'])
})

it('work that throws keeps nothing else from running', async () => {
  const turns = new LoopTurns(2)
  const fail = (): void => {
    throw new Error('broken')
  }
  expect(() => turns.add('ann', fail)).toThrow('broken')
  turns.add('ann', work('next', 1))
  expect(ran).toEqual(['next'])
})
