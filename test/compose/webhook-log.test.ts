import { expect, it } from 'vitest'
import { logWebhooks } from '../../src/compose/webhook-log.ts'
import type { Webhook } from '../../src/core/webhooks/webhook.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'

const MINUTE_MS = 60_000

it('failures and dropped events make one entry a minute each, with their number', () => {
  const entries: unknown[] = []
  const log = (facts: Readonly<Record<string, unknown>>) =>
    entries.push(facts['failures'] ?? facts['events'])
  let now = 0
  const hooks = logWebhooks({ warn: log, error: log } as never, () => now)
  for (let time = 0; time < 3; time++) {
    hooks.onFailed({} as Webhook, 'The receiver answered 500.')
    hooks.onDropped(parseUserId('ann'), 10)
  }
  expect(entries).toEqual([1, 10])
  now += MINUTE_MS
  hooks.onFailed({} as Webhook, 'The receiver answered 500.')
  hooks.onDropped(parseUserId('bob'), 1)
  expect(entries).toEqual([1, 10, 3, 21])
})
