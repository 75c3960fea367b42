import { expect, it } from 'vitest'
import { logWebhooks } from '../../src/compose/webhook-log.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import type { Webhook } from '../../src/core/webhooks/webhook.ts'

const MINUTE_MS = 60_000

it('failures make one entry a minute, and expired events one for each user', () => {
  const entries: unknown[] = []
  const log = (facts: Readonly<Record<string, unknown>>) =>
    entries.push(facts['failures'] ?? facts['user_id'])
  let now = 0
  const hooks = logWebhooks({ warn: log, error: log } as never, () => now)
  const fail = (): void => {
    hooks.onFailed({} as Webhook, 'The receiver answered 500.')
    for (const user of ['ann', 'bob']) hooks.onExpired(parseUserId(user), 10)
  }
  for (let time = 0; time < 3; time++) fail()
  expect(entries).toEqual([1, 'ann', 'bob'])
  now += MINUTE_MS
  fail()
  expect(entries.slice(3)).toEqual([3, 'ann', 'bob'])
})
