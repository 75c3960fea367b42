import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purgeWebhook } from '../../../src/core/webhooks/webhook.ts'
import { WEBHOOK_EVENTS } from '../../../src/core/webhooks/webhook-events.ts'
import { expectProblem, type OpenService, upload } from '../fixture.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, allPages, call } from './fixture.ts'

const PARKED = '/admin/webhooks/parked'

/** The events that could not be delivered, as operators list, send again and forget them. */
export function adminWebhooksSuite(open: OpenService): void {
  describe('admin: parked webhooks', () => {
    let service: TestService
    let receiver: WebhookReceiver
    let status = 204
    beforeAll(async () => {
      receiver = await startWebhookReceiver((response) => response.writeHead(status).end())
      const webhooks = {
        url: receiver.url,
        secrets: [randomBytes(32)],
        events: new Set(WEBHOOK_EVENTS),
      }
      service = await open({ ...ADMIN_OPTIONS, webhooks })
    })
    afterAll(async () => {
      await service.stop()
      await receiver[Symbol.asyncDispose]()
    })

    const list = () => allPages(service, { at: PARKED, member: 'webhooks', limit: 1 })
    const retry = (id: string) => call(service, { method: 'POST', at: `${PARKED}/${id}/retry` })
    const discard = (id: string) => call(service, { method: 'DELETE', at: `${PARKED}/${id}` })
    async function recorded(id: string): Promise<readonly unknown[]> {
      const trail = await allPages(service, { at: '/admin/audit', member: 'actions', limit: 1000 })
      const found = trail.filter(({ details }) => JSON.stringify(details).includes(id))
      return found.map(({ action }) => action)
    }

    it('are listed, stay while the receiver refuses them, and are gone once it accepts one', async () => {
      const id = await park(service)
      const entry = (await list()).find(({ webhook_id }) => webhook_id === id)
      expect(entry).toMatchObject({ type: 'user.purged', attempts: 3, reason: 'It answered 500.' })
      status = 500
      expectProblem(await retry(id), { status: 502, code: 'webhook_failed' })
      expect(await list()).toContainEqual(entry)
      status = 204
      expect((await retry(id)).status).toBe(204)
      expect((await list()).map(({ webhook_id }) => webhook_id)).not.toContain(id)
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id])
      expectProblem(await retry(id), { status: 404, code: 'not_found' })
      expect(await recorded(id)).toEqual(['webhook.retry'])
    })

    it('are forgotten on request, as often as it is repeated', async () => {
      const ids = [await park(service), await park(service)]
      const [id = ''] = ids
      expect([(await discard(id)).status, (await discard(id)).status]).toEqual([204, 204])
      expect(await recorded(id)).toEqual(['webhook.discard'])
      const left = new Set((await list()).map(({ webhook_id }) => webhook_id))
      expect(ids.map((id) => left.has(id))).toEqual([false, true])
      expectProblem(await discard('msg_short'), { status: 400, code: 'invalid_parameter' })
    })

    it('are counted, as is the age of the oldest event', async () => {
      await park(service)
      const user = await service.createUser(10)
      expect((await upload(service, { user, content: 'x' })).status).toBe(200)
      const metrics = (await call(service, { method: 'GET', at: '/metrics' })).body.toString()
      expect(metrics).toMatch(/cloud_repository_webhook_parked_events [1-9]/)
      expect(metrics).toMatch(/cloud_repository_webhook_oldest_event_age_seconds \d/)
    })
  })
}

/** Gives up the first event of a new user, as if it had failed for a day. */
export async function park(service: TestService): Promise<string> {
  const user = await service.createUser(10)
  await upload(service, { user, content: 'x' })
  const queues = await service.ledger.listDueWebhooks(10_000)
  const queue = queues.find(({ userId }) => userId === user.userId)
  if (queue === undefined) throw new Error('The user has no queue.')
  const event = purgeWebhook(user.userId, Date.now())
  const parked = { ...event, attempts: 3, reason: 'It answered 500.' }
  const outcome = { queue, delivered: 1, isPurgeDone: false, failure: undefined, parked }
  await service.ledger.settleWebhooks(outcome)
  return event.id
}
