import type { ParkedPlace } from '../../../core/webhooks/webhook-ledger.ts'
import { parkedJson } from '../../../core/webhooks/parked-webhooks.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { type Key, readPage } from '../../shared-routes/pagination.ts'
import type { AuditedOptions } from '../audit.ts'
import { WEBHOOKS } from './webhooks.openapi.ts'

export interface WebhookRoutesOptions extends AuditedOptions {
  readonly shutdown: AbortSignal
}

export const webhookRoutes: FastifyPluginAsyncTypebox<WebhookRoutesOptions> = async (
  app,
  { audited, shutdown },
) => {
  const collection = '/admin/webhooks/parked'

  app.get(collection, WEBHOOKS.list, async (request) => {
    const { parkedWebhooks } = audited(request)
    const { entries, next_cursor } = await readPage(request.query, {
      read: placeOf,
      list: (page) => parkedWebhooks.list(page),
      keyOf: ({ parkedAt, id }) => [parkedAt, id],
    })
    return { webhooks: entries.map(parkedJson), next_cursor }
  })

  app.post(`${collection}/:webhook_id/retry`, WEBHOOKS.retry, async (request, reply) => {
    await audited(request).parkedWebhooks.retry(request.params.webhook_id, shutdown)
    return reply.code(204).send()
  })

  app.delete(`${collection}/:webhook_id`, WEBHOOKS.discard, async (request, reply) => {
    await audited(request).parkedWebhooks.discard(request.params.webhook_id)
    return reply.code(204).send()
  })
}

function placeOf([parkedAt, id, another]: Key): ParkedPlace | undefined {
  const isPlace = typeof parkedAt === 'number' && typeof id === 'string' && another === undefined
  return isPlace ? { parkedAt, id } : undefined
}
