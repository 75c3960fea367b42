import { forgetChanges } from '../../support/forget-changes.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWebhookDelivery } from '../../../src/core/webhooks/delivery.ts'
import { createParkedWebhooks } from '../../../src/core/webhooks/parked-webhooks.ts'
import type { Webhook, Delivery } from '../../../src/core/webhooks/webhook.ts'
import { WEBHOOK_EVENTS } from '../../../src/core/webhooks/webhook-events.ts'
import { parseMediaType } from '../../../src/core/files/media-type.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import { eventually } from '../../support/eventually.ts'
import { type Account, accountOf, type LedgerHarness, openAccount, outcomeOf } from './fixture.ts'
import { callerOf } from '../../../src/core/users/caller.ts'

const HOUR_MS = 3_600_000
const LONG_AGO_MS = -60_000

/** What becomes of the events of an account, on the way to a receiver. */
export function ledgerWebhooksContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`webhooks of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let receiver: Receiver

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      receiver = new Receiver(account.userId)
    })

    /** Delivers while `work` runs, and until nothing of the account is due. */
    async function deliver(
      work: () => Promise<unknown> = async () => undefined,
      events: readonly string[] = WEBHOOK_EVENTS,
    ): Promise<void> {
      const stop = new AbortController()
      const { hooks, sender } = receiver
      const times = { pollMs: 5, askMs: 5 }
      const delivery = createWebhookDelivery({
        ledger: harness.ledger,
        sender,
        events: new Set(events),
        hooks,
        times,
      })
      const running = delivery.run(stop.signal)
      try {
        await work()
        await eventually(async () => expect(await dueQueues()).toEqual([]))
      } finally {
        stop.abort()
        await running
      }
      expect(receiver.errors).toEqual([])
    }

    const dueQueues = async (): Promise<readonly UserId[]> => {
      const due = await harness.ledger.listDueWebhooks(10_000)
      return due.map(({ userId }) => userId).filter((userId) => userId === account.userId)
    }

    it('are sent once, in order, with what the feed says', async () => {
      await account.put('a', 1, { mediaType: parseMediaType('image/webp') })
      await account.put('a', 2)
      await account.change('a', { newName: 'b.jpg', visibility: 'private' })
      await account.remove('b.jpg')
      await deliver()
      expect(receiver.accepted.map(({ type }) => type)).toEqual([
        'file.created',
        'file.replaced',
        'file.renamed',
        'file.deleted',
      ])
      const [first, , third] = receiver.accepted.map(({ body }) => JSON.parse(body) as Body)
      const { at } = receiver.accepted[0] ?? { at: 0 }
      const time = new Date(at).toISOString()
      expect(first).toEqual({
        type: 'file.created',
        timestamp: time,
        data: {
          user_id: account.userId,
          sequence: 1,
          type: 'file.created',
          at: time,
          name: 'a',
          version: expect.any(String) as string,
          size: 1,
          sha256: expect.any(String) as string,
          visibility: 'private',
          media_type: 'image/webp',
          device_id: null,
        },
      })
      const renamed = { name: 'b.jpg', previous_name: 'a', media_type: 'image/jpeg' }
      expect(third?.data).toMatchObject(renamed)
      expect(new Set(receiver.accepted.map(({ id }) => id)).size).toBe(4)
      await deliver()
      expect(receiver.sent).toHaveLength(4)
      await account.put('c', 1)
      await deliver()
      expect(receiver.sequences()).toEqual([1, 2, 3, 4, 5])
    })

    it('lose no change that is committed while others are delivered, and keep the order', async () => {
      const others = await Promise.all(Array.from({ length: 5 }, () => openAccount(harness)))
      const all = [account, ...others]
      receiver.of(others.map(({ userId }) => userId))
      await deliver(async () => {
        await Promise.all(
          all.map(async (each) => {
            for (let file = 0; file < 30; file += 1) await each.put(`f${file % 3}`, 1)
          }),
        )
        for (const { userId } of all) {
          await eventually(async () => expect(receiver.sequences(userId)).toHaveLength(30))
        }
      })
      const inOrder = Array.from({ length: 30 }, (_, index) => index + 1)
      for (const { userId } of all) expect(receiver.sequences(userId)).toEqual(inOrder)
    })

    it('wait for one that fails, longer each time, and then go on', async () => {
      await account.put('a', 1)
      await account.put('b', 1)
      receiver.answers = [refusal(), refusal(), refusal()]
      await deliver()
      expect(receiver.sent.map(({ type }) => type)).toEqual(['file.created'])
      for (const doubled of [1_000, 2_000, 4_000]) {
        await harness.advance(doubled * 0.7)
        expect(await dueQueues()).toEqual([])
        await harness.advance(doubled * 0.6)
        expect(await dueQueues()).toHaveLength(1)
        await deliver()
      }
      expect(receiver.sequences()).toEqual([1, 2])
      const [one, two, three, four] = receiver.sent
      expect([two, three, four]).toEqual([one, one, one])
    })

    it('wait as long as the receiver asks, but are not parked later than after a day', async () => {
      await account.put('a', 1)
      receiver.answers = [refusal(2 * HOUR_MS), refusal(1_000 * HOUR_MS)]
      await deliver()
      await harness.advance(1.9 * HOUR_MS)
      expect(await dueQueues()).toEqual([])
      await harness.advance(0.2 * HOUR_MS)
      await deliver()
      expect(receiver.sent).toHaveLength(2)
      await harness.advance(21.8 * HOUR_MS)
      expect(await dueQueues()).toEqual([])
      await harness.advance(0.2 * HOUR_MS)
      expect(await dueQueues()).toHaveLength(1)
    })

    it('are parked after a day of failures, so that the next ones are sent; and sent again on request', async () => {
      await account.put('a', 1)
      await account.put('b', 1)
      receiver.answers = [refusal(), refusal('down'), 'accept']
      await deliver()
      await harness.advance(24 * HOUR_MS + 10)
      await deliver()
      expect(receiver.sequences()).toEqual([2])
      expect(receiver.parked).toHaveLength(1)
      const parked = createParkedWebhooks(harness.ledger, receiver.sender)
      const { signal } = new AbortController()
      const listed = async () =>
        (await parked.list({ after: undefined, limit: 1000 })).filter(
          ({ userId }) => userId === account.userId,
        )
      const [event] = await listed()
      expect(event).toMatchObject({ ...receiver.sent[0], attempts: 2, reason: 'down' })
      const { id = '' } = event ?? {}
      expect((await harness.ledger.measureWebhooks(1000)).parked).toBeGreaterThan(0)
      receiver.answers = [refusal()]
      expect(await outcomeOf(parked.retry(id, signal))).toBe('webhook_failed')
      expect(await listed()).toEqual([event])
      expect(await parked.retry(id, signal)).toEqual(event)
      expect(await listed()).toEqual([])
      expect(receiver.sequences()).toEqual([2, 1])
      expect(await outcomeOf(parked.retry(id, signal))).toBe('not_found')
      expect(await parked.discard(id)).toBeUndefined()
    })

    it('parked events are forgotten with the changes of their time, or on request', async () => {
      for (const file of ['a', 'b']) {
        await account.put(file, 1)
        receiver.answers = [refusal(), refusal()]
        await deliver()
        await harness.advance(24 * HOUR_MS + 10)
        await deliver()
      }
      const parked = createParkedWebhooks(harness.ledger, undefined)
      const ids = receiver.parked.map(({ id }) => id)
      expect(ids).toHaveLength(2)
      expect((await parked.discard(ids[0] ?? ''))?.id).toBe(ids[0])
      await harness.ledger.forgetChanges({ lifetimeMs: LONG_AGO_MS, limit: 1 })
      expect(await parked.discard(ids[1] ?? '')).toBeUndefined()
    })

    it('events that were trimmed before they were sent are counted, and the rest is sent', async () => {
      await account.put('a', 1)
      await account.put('a', 2)
      await forgetChanges(harness.ledger, { lifetimeMs: LONG_AGO_MS, limit: 1000 })
      await account.put('a', 3)
      await deliver()
      expect(receiver.sequences()).toEqual([3])
      await account.put('a', 4)
      await forgetChanges(harness.ledger, { lifetimeMs: LONG_AGO_MS, limit: 1000 })
      await deliver()
      expect(receiver.expired).toEqual([2, 1])
      await account.put('a', 5)
      await deliver()
      expect(receiver.sequences()).toEqual([3, 5])
    })

    it('wait as long as before if those that failed were trimmed', async () => {
      await account.put('a', 1)
      receiver.answers = [refusal(), refusal()]
      await deliver()
      await forgetChanges(harness.ledger, { lifetimeMs: LONG_AGO_MS, limit: 1000 })
      await account.put('a', 2)
      await harness.advance(3_000)
      const failedAt = harness.now()
      await deliver()
      expect(receiver.expired).toEqual([1])
      const own = async () =>
        (await harness.ledger.listDueWebhooks(10_000)).find(
          ({ userId }) => userId === account.userId,
        )
      let due = await own()
      while (due === undefined) {
        await harness.advance(50)
        due = await own()
      }
      // The second delay is of 1.6 to 2.4 s. The event itself has not failed before, and so is not parked early.
      const waitedMs = harness.now() - failedAt
      expect(waitedMs).toBeGreaterThanOrEqual(1_600)
      expect(due.failingForMs).toBeLessThanOrEqual(waitedMs + 1)
    })

    it('events of other types than those asked for are left out', async () => {
      await account.put('a', 1)
      await account.remove('a')
      await account.put('b', 95)
      await deliver(undefined, ['file.deleted', 'capacity.critical', 'capacity.nearing'])
      expect(receiver.accepted.map(({ type }) => type)).toEqual([
        'file.deleted',
        'capacity.nearing',
      ])
    })

    it('end with the purge of a deleted user, and begin again with the next user of the id', async () => {
      const { userId } = account
      await account.put('a', 1)
      await account.put('a', 2)
      receiver.answers = ['accept', refusal()]
      await deliver()
      await harness.users.deleteUser(userId)
      const purge = { userId, limit: 1000 }
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
      await harness.advance(1)
      const next = accountOf({
        ...harness,
        ...callerOf((await harness.users.createUser(userId)).user),
      })
      await next.put('b', 1)
      receiver.answers = [refusal()]
      await deliver()
      await harness.advance(1_300)
      await deliver()
      expect(receiver.accepted.map(({ type }) => type)).toEqual([
        'file.created',
        'user.purged',
        'file.created',
      ])
      const [, purged, created] = receiver.accepted.map(({ body }) => JSON.parse(body) as Body)
      expect(purged?.data).toEqual({ user_id: userId })
      expect(created?.data).toMatchObject({ user_id: userId, sequence: 1, name: 'b' })
      expect(new Set(receiver.accepted.map(({ id }) => id)).size).toBe(3)
      expect(receiver.expired).toEqual([])
    })

    it('events of a new user are not lost while the purge of the one before is settled', async () => {
      const { userId } = account
      await account.put('a', 1)
      await harness.users.deleteUser(userId)
      const purge = { userId, limit: 1000 }
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
      const own = async () =>
        (await harness.ledger.listDueWebhooks(10_000)).find((each) => each.userId === userId)
      const queue = await own()
      await harness.users.createUser(userId)
      if (queue === undefined) throw new Error('The purge is not queued.')
      // The first change of the new user may have found this queue, and not be committed yet.
      const done = { queue, delivered: 0, failure: undefined, parked: undefined }
      await harness.ledger.settleWebhooks({ ...done, isPurgeDone: true })
      expect(await own()).toMatchObject({ delivered: 0, purgedAt: undefined })
      await deliver()
      expect(await own()).toBeUndefined()
      expect(receiver.sent).toEqual([])
    })

    it('are settled only by who has read the queue as it is', async () => {
      await account.put('a', 1)
      await account.put('b', 1)
      const queue = (await harness.ledger.listDueWebhooks(10_000)).find(
        ({ userId }) => userId === account.userId,
      )
      if (queue === undefined) throw new Error('The account is not queued.')
      const done = { queue, isPurgeDone: false, failure: undefined, parked: undefined }
      await harness.ledger.settleWebhooks({ ...done, delivered: 1 })
      await harness.other.settleWebhooks({ ...done, delivered: 2 })
      await deliver()
      expect(receiver.sequences()).toEqual([2])
    })

    it('say how long the oldest event has waited', async () => {
      await account.put('a', 1)
      await harness.advance(5_000)
      expect((await harness.ledger.measureWebhooks(10)).oldestMs).toBeGreaterThanOrEqual(5_000)
    })
  })
}

interface Body {
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

function refusal(how: number | string = 'no'): Delivery {
  return typeof how === 'number'
    ? { isDelivered: false, reason: 'later', retryAfterMs: how }
    : { isDelivered: false, reason: how, retryAfterMs: undefined }
}

/** Sees the events of some users. Accepts all of the others', which other tests have left. */
class Receiver {
  /** For the next attempts; then all are accepted. */
  answers: (Delivery | 'accept')[] = []
  readonly sent: Webhook[] = []
  readonly accepted: Webhook[] = []
  readonly parked: Webhook[] = []
  readonly expired: number[] = []
  readonly errors: unknown[] = []
  readonly #users: Set<string>

  constructor(userId: UserId) {
    this.#users = new Set([userId])
  }

  of(userIds: readonly UserId[]): void {
    for (const userId of userIds) this.#users.add(userId)
  }

  readonly sender = {
    send: async (webhook: Webhook): Promise<Delivery> => {
      const { user_id } = (JSON.parse(webhook.body) as Body).data
      if (!this.#users.has(String(user_id))) return { isDelivered: true }
      this.sent.push(webhook)
      const answer = this.answers.shift() ?? 'accept'
      if (answer !== 'accept') return answer
      this.accepted.push(webhook)
      return { isDelivered: true }
    },
  } as const

  readonly hooks = {
    onDelivered: () => undefined,
    onFailed: () => undefined,
    onParked: (webhook: Webhook) => {
      if (this.#users.has(webhook.userId)) this.parked.push(webhook)
    },
    onExpired: (userId: UserId, events: number) => {
      if (this.#users.has(userId)) this.expired.push(events)
    },
    onError: (error: unknown) => void this.errors.push(error),
  }

  sequences(userId: UserId = this.#first()): unknown[] {
    return this.accepted
      .map(({ body }) => (JSON.parse(body) as Body).data)
      .filter((data) => data['user_id'] === userId)
      .map((data) => data['sequence'])
  }

  #first(): UserId {
    const [userId] = this.#users
    return userId as UserId
  }
}
