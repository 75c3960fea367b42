import { expect, it } from 'vitest'
import { waking } from '../../../src/core/changes/feed.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Ledger } from '../../../src/database/ledger.ts'

const CHANGES = ['commit', 'deleteFile', 'updateFile', 'changeFiles', 'restoreVersion'] as const

it.each(CHANGES)('wakes who waits for changes after %s, unless it is refused', async (method) => {
  const userId = parseUserId('alice')
  const woken: string[] = []
  const calls: Record<string, (request: object) => Promise<unknown>> = Object.fromEntries(
    CHANGES.map((each) => [each, async () => each]),
  )
  const wake = (of: string): void => void woken.push(of)
  const call = waking(calls as unknown as Ledger, wake)[method] as (
    request: object,
  ) => Promise<unknown>
  expect(await call({ userId })).toBe(method)
  expect(woken).toEqual([userId])
  calls[method] = () => Promise.reject(new Error('refused'))
  const refused = waking(calls as unknown as Ledger, wake)[method] as typeof call
  await expect(refused({ userId })).rejects.toThrow('refused')
  expect(woken).toEqual([userId])
})
