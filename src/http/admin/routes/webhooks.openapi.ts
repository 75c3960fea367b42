import { WEBHOOK_EVENTS } from '../../../core/webhooks/webhook.ts'
import { describing } from '../../openapi/operation.ts'
import { OneOf, Page, Text, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { NO_QUERY } from '../route-schemas.ts'

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

export const WEBHOOKS = {
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
