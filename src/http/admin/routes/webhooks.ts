import { formatTimestamp } from '../../../core/timestamp.ts'
import type { ParkedPlace, ParkedWebhook as Parked } from '../../../core/webhooks/webhook-ledger.ts'
import { WEBHOOK_EVENTS } from '../../../core/webhooks/webhook-events.ts'
import { describing } from '../../openapi/operation.ts'
import { OneOf, Page, Text, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { type Key, PAGE_QUERY, readPage } from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { NO_QUERY } from '../route-schemas.ts'

export const webhookRoutes: OperatorPlugin = async (
  app,
  { useCases: { parkedWebhooks }, audit },
) => {
  const collection = '/admin/webhooks/parked'

  app.get(collection, WEBHOOKS.list, async (request) => {
    const { entries, next_cursor } = await readPage(request.query, {
      read: placeOf,
      list: (page) => parkedWebhooks.list(page),
      keyOf: ({ parkedAt, id }) => [parkedAt, id],
    })
    return { webhooks: entries.map(toReply), next_cursor }
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

function toReply({ id, userId, type, at, attempts, reason, parkedAt }: Parked) {
  return {
    webhook_id: id,
    user_id: userId,
    type,
    at: formatTimestamp(at),
    attempts,
    reason,
    parked_at: formatTimestamp(parkedAt),
  }
}

function placeOf([parkedAt, id, another]: Key): ParkedPlace | undefined {
  const isPlace = typeof parkedAt === 'number' && typeof id === 'string' && another === undefined
  return isPlace ? { parkedAt, id } : undefined
}

const WEBHOOK_ID = 'msg_Wt1GZkE2rvBf6HpLxS9dQmC4yNjU8oXa'

const ParkedWebhook = Type.Object(
  {
    webhook_id: Text('The `webhook-id` of the event.', WEBHOOK_ID),
    user_id: Text('The user whose event it is.', 'alice'),
    type: OneOf(WEBHOOK_EVENTS, 'What happened.'),
    at: Time('When it happened.'),
    attempts: Type.Integer({ minimum: 1, description: 'How often it was sent.', examples: [31] }),
    reason: Text('Why the last attempt failed.', 'The receiver answered 500.'),
    parked_at: Time('When it was given up.'),
  },
  {
    title: 'ParkedWebhook',
    description: 'An event that could not be delivered for 24 hours.',
  },
)

const ParkedWebhookPage = Page('ParkedWebhookPage', { webhooks: Type.Array(ParkedWebhook) })

const params = Type.Object({
  webhook_id: Type.String({
    pattern: '^msg_[A-Za-z0-9_-]{32}$',
    description: 'The `webhook_id` of a parked event.',
    examples: [WEBHOOK_ID],
  }),
})

const ofWebhooks = describing({ querystring: NO_QUERY, tag: 'webhooks' })

const WEBHOOKS = {
  list: ofWebhooks({
    operationId: 'listParkedWebhooks',
    summary:
      'List the events that could not be delivered for 24 hours, those first that were parked first',
    querystring: PAGE_QUERY,
    response: { 200: ParkedWebhookPage },
    responses: { 200: 'One page of parked events.' },
  }),
  retry: ofWebhooks({
    operationId: 'retryParkedWebhook',
    summary: 'Send a parked event once more',
    description: 'Later events of its user may have been delivered already.',
    params,
    responses: { 204: 'The receiver has accepted the event, which is no longer parked.' },
    problems: ['not_found', 'webhook_failed'],
  }),
  discard: ofWebhooks({
    operationId: 'discardParkedWebhook',
    summary: 'Forget a parked event',
    params,
    responses: { 204: 'The event is no longer parked, or was not.' },
  }),
}
