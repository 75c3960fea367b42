import { expect, test } from 'vitest'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import { AddressTurns } from '../../../src/http/body/address-turns.ts'

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
