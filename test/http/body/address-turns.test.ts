import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import { AddressTurns } from '../../../src/http/body/address-turns.ts'
import { OnePerTurn } from '../../../src/http/body/one-per-turn.ts'

const [one, other] = ['192.0.2.1', '192.0.2.2'].map(parseClientAddress) as [
  ReturnType<typeof parseClientAddress>,
  ReturnType<typeof parseClientAddress>,
]

test('addresses take turns, and those of one keep their order', () => {
  const turns = new AddressTurns<string>()
  for (const item of ['a', 'b', 'c', 'd']) turns.add(one, item)
  turns.add(other, 'e')
  turns.add(other, 'f')
  turns.delete(one, 'b')
  turns.delete(other, 'f')
  turns.delete(other, 'none')
  const taken = Array.from({ length: 5 }, () => turns.take())
  expect(taken).toEqual(['a', 'e', 'c', 'd', undefined])
})

test('one task runs in a turn of the event loop, at most one of each address before another', async () => {
  const tasks = new OnePerTurn(['body', 'connection'])
  const ran: string[] = []
  for (let number = 0; number < 50; number++)
    tasks.run('connection', one, () => ran.push(`one ${number}`))
  tasks.run('connection', other, () => ran.push('other'))
  expect(ran).toEqual(['one 0'])
  for (let turn = 0; turn < 3; turn++) await setImmediate()
  expect(ran.slice(0, 3)).toEqual(['one 0', 'one 1', 'other'])
  expect(ran.length).toBeLessThan(6)
})

test('two kinds of tasks run alternately', async () => {
  const tasks = new OnePerTurn(['body', 'connection'])
  const ran: string[] = []
  tasks.run('body', one, () => ran.push('first'))
  for (let number = 0; number < 5; number++) {
    tasks.run('connection', one, () => {
      ran.push('connection')
      tasks.run('body', one, () => ran.push('body'))
    })
  }
  while (ran.length < 11) await setImmediate()
  expect(ran.join(' ')).toBe(`first${' connection body'.repeat(5)}`)
})
