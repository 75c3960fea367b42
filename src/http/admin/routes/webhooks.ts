import type { ParkedPlace } from '../../../core/webhooks/webhook-ledger.ts'
import { parkedJson, type ParkedWebhooks } from '../../../core/webhooks/parked-webhooks.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { type Key, readPage } from '../../shared-routes/pagination.ts'
import type { Audit } from '../audit.ts'
import { WEBHOOKS } from './webhooks.openapi.ts'

export const webhookRoutes: FastifyPluginAsyncTypebox<{
  parkedWebhooks: ParkedWebhooks
  shutdown: AbortSignal
  audit: Audit
}> = async (app, { parkedWebhooks, shutdown, audit }) => {
  const collection = '/admin/webhooks/parked'

  app.get(collection, WEBHOOKS.list, async ({ query }) => {
    const { entries, next_cursor } = await readPage(query, {
      read: placeOf,
      list: (page) => parkedWebhooks.list(page),
      keyOf: ({ parkedAt, id }) => [parkedAt, id],
    })
    return { webhooks: entries.map(parkedJson), next_cursor }
  })

  app.post(`${collection}/:webhook_id/retry`, WEBHOOKS.retry, async (request, reply) => {
    const { webhook_id } = request.params
    const { userId } = await parkedWebhooks.retry(webhook_id, shutdown)
    await audit(request, { action: 'webhook.retry', user_id: userId, webhook_id })
    return reply.code(204).send()
  })

  app.delete(`${collection}/:webhook_id`, WEBHOOKS.discard, async (request, reply) => {
    const { webhook_id } = request.params
    const parked = await parkedWebhooks.discard(webhook_id)
    if (parked !== undefined) {
      await audit(request, { action: 'webhook.discard', user_id: parked.userId, webhook_id })
    }
    return reply.code(204).send()
  })
}

function placeOf([parkedAt, id, another]: Key): ParkedPlace | undefined {
  const isPlace = typeof parkedAt === 'number' && typeof id === 'string' && another === undefined
  return isPlace ? { parkedAt, id } : undefined
}
