import type { ParkedPlace } from '../../../core/webhooks/webhook-ledger.ts'
import { parkedJson, type ParkedWebhooks } from '../../../core/webhooks/parked-webhooks.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { type Key, readPage } from '../../shared-routes/pagination.ts'
import type { Audited } from '../audit.ts'
import { WEBHOOKS } from './webhooks.openapi.ts'

interface WebhookOptions extends Audited {
  readonly parkedWebhooks: ParkedWebhooks
}

export const webhookRoutes: FastifyPluginAsyncTypebox<WebhookOptions> = async (
  app,
  { parkedWebhooks, audit },
) => {
  const collection = '/admin/webhooks/parked'

  app.get(collection, WEBHOOKS.list, async (request) => {
    const { entries, next_cursor } = await readPage(request.query, {
      read: placeOf,
      list: (page) => parkedWebhooks.list(page),
      keyOf: ({ parkedAt, id }) => [parkedAt, id],
    })
    return { webhooks: entries.map(parkedJson), next_cursor }
  })

  app.post(`${collection}/:webhook_id/retry`, WEBHOOKS.retry, async (request, reply) => {
    const { webhook_id } = request.params
    const { shutdown } = app.signals
    const { userId: user_id } = await parkedWebhooks.retry(webhook_id, shutdown)
    await audit(request, { action: 'webhook.retry', user_id, webhook_id })
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
