import { expect, it } from 'vitest'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import { createPasswordChecks } from '../../../src/core/links/password-checks.ts'

it('The key of a password that was right needs no further turn', async () => {
  const passwords = createPasswordChecks()
  const { signal } = new AbortController()
  const shown = (password: string) => ({
    password,
    keys: [],
    address: parseClientAddress('192.0.2.1'),
    signal,
  })
  const hash = await passwords.hash('right', { id: 'owner', signal })
  const key = await passwords.keyFor(hash, shown('right'))
  expect(key).toBeDefined()
  const guesses = Array.from({ length: 7 }, (_, n) => passwords.keyFor(hash, shown(`wrong ${n}`)))
  const outcomes = Promise.allSettled(guesses)
  expect(await passwords.keyFor(hash, shown('right'))).toBe(key)
  expect(await passwords.areRight(hash, shown('right'))).toBe(true)
  expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(1)
})
