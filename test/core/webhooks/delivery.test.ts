import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Change } from '../../../src/core/changes/change.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import { createWebhookDelivery, type WebhookHooks } from '../../../src/core/webhooks/delivery.ts'
import type { WebhookSender } from '../../../src/core/webhooks/webhook.ts'
import { WEBHOOK_EVENTS } from '../../../src/core/webhooks/webhook-events.ts'
import type { WebhookOutcome, WebhookQueue } from '../../../src/core/webhooks/webhook-ledger.ts'
import { outage } from '../../support/faults/faults.ts'

const NOBODY = parseUserId('nobody')

/** A ledger in memory in which each user has as many events; those of `broken` cannot be read. */
function bed(
  users: Readonly<Record<string, number>>,
  { send, broken = NOBODY, isHeld = () => true }: Options,
) {
  const queues = new Map<UserId, number>(Object.keys(users).map((name) => [parseUserId(name), 0]))
  const settled: WebhookOutcome[] = []
  const sent: string[] = []
  const errors: unknown[] = []
  let lists = 0
  const ledger = {
    acquireLeaderLease: async () => isHeld(),
    releaseLeaderLease: async () => undefined,
    listDueWebhooks: async (limit: number): Promise<readonly WebhookQueue[]> => {
      lists += 1
      return [...queues]
        .map(([userId, delivered]) => ({
          userId,
          delivered,
          purgedAt: undefined,
          attempts: 0,
          failingForMs: 0,
        }))
        .slice(0, limit)
    },
    async readUndelivered({ userId, delivered }: WebhookQueue) {
      if (userId === broken) throw outage()
      const count = users[userId] ?? 0
      const changes = Array.from({ length: count - delivered }, (_, at) =>
        changeOf(delivered + at + 1),
      )
      return { latest: { sequence: count, at: 1 }, changes, isDeleted: false }
    },
    async settleWebhooks(outcome: WebhookOutcome) {
      settled.push(outcome)
      const { userId } = outcome.queue
      if (outcome.delivered === users[userId]) queues.delete(userId)
      else queues.set(userId, outcome.delivered)
    },
    listParked: async () => [],
    findParked: async () => undefined,
    deleteParked: async () => undefined,
    measureWebhooks: async () => ({ parked: 0, oldestMs: 0 }),
  }
  const nothing = (): void => undefined
  const hooks: WebhookHooks = {
    onDelivered: nothing,
    onFailed: nothing,
    onParked: nothing,
    onExpired: nothing,
    onError: (error) => void errors.push(error),
  }
  const sender: WebhookSender = {
    async send({ body }, signal) {
      const { data } = JSON.parse(body) as { data: { user_id: UserId; sequence: number } }
      const name = `${data.user_id} ${data.sequence}`
      sent.push(name)
      await send(name, signal)
      return { isDelivered: true }
    },
  }
  const times = { pollMs: 20, askMs: 10 }
  const events = new Set<string>(WEBHOOK_EVENTS)
  const delivery = createWebhookDelivery({ ledger, sender, events, hooks, times })
  const stop = new AbortController()
  const running = delivery.run(stop.signal)
  return {
    settled,
    sent,
    errors,
    lists: () => lists,
    stop: async () => {
      stop.abort(new Error('stopping'))
      await running
    },
  }
}

interface Options {
  readonly send: (name: string, signal: AbortSignal) => Promise<unknown>
  readonly broken?: UserId
  readonly isHeld?: () => boolean
}

const AT_ONCE = async (): Promise<void> => undefined

function changeOf(sequence: number): Change & { readonly previousAt: number } {
  return { type: 'capacity.normal', sequence, at: 1, previousAt: 1, capacity: 1, used: 0 }
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  await delay(100_000, undefined, { signal })
  throw new Error('nobody aborted it')
}

describe('the delivery of webhooks', () => {
  it('goes on for others while one receiver hangs at the events of some', async () => {
    const { sent, stop } = bed(
      { slow: 2, ann: 2, bob: 1 },
      { send: async (name, signal) => name === 'slow 1' && (await untilAborted(signal)) },
    )
    await expect.poll(() => sent.toSorted()).toEqual(['ann 1', 'ann 2', 'bob 1', 'slow 1'])
    await stop()
  })

  it('goes on for others while the database fails for one', async () => {
    const { sent, errors, stop } = bed(
      { broken: 1, ann: 60, bob: 1 },
      { send: AT_ONCE, broken: parseUserId('broken') },
    )
    await expect.poll(() => errors.length).toBeGreaterThan(2)
    await stop()
    const ofAnn = Array.from({ length: 60 }, (_, at) => `ann ${at + 1}`)
    expect(sent.filter((name) => name.startsWith('ann'))).toEqual(ofAnn)
    expect(sent).toContain('bob 1')
  })

  it('notes what it has sent when it is stopped in the middle', async () => {
    const { settled, sent, stop } = bed(
      { ann: 5, bob: 1 },
      {
        send: async (name, signal) =>
          ['ann 3', 'bob 1'].includes(name) && (await untilAborted(signal)),
      },
    )
    await expect.poll(() => sent).toContain('ann 3')
    await stop()
    expect(settled.map(({ queue, delivered }) => [queue.userId, delivered])).toEqual([['ann', 2]])
  })

  it('sends nothing more when its lease is over', async () => {
    let isHeld = true
    const { settled, sent, stop } = bed(
      { ann: 5 },
      {
        isHeld: () => isHeld,
        send: async (name) => {
          if (name !== 'ann 2') return
          isHeld = false
          pretendLater(20_000)
        },
      },
    )
    try {
      await expect.poll(() => settled.map(({ delivered }) => delivered)).toEqual([2])
      await stop()
      expect(sent).toEqual(['ann 1', 'ann 2'])
    } finally {
      pretendLater(0)
    }
  })

  it('asks rarely for what is due while nothing is', async () => {
    const { lists, stop } = bed({}, { send: AT_ONCE })
    await delay(400)
    await stop()
    expect(lists()).toBeGreaterThan(2)
    expect(lists()).toBeLessThan(25)
  })
})

const now = performance.now.bind(performance)

/** Moves the clock of the process. */
function pretendLater(ms: number): void {
  performance.now = () => now() + ms
}
