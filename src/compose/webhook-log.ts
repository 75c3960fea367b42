import type { FastifyBaseLogger } from 'fastify'
import type { WebhookHooks } from '../core/webhooks/delivery.ts'

/** A receiver that is down fails at every attempt: its failures make one entry a minute. */
const FAILURES_EVERY_MS = 60_000

export function logWebhooks(
  logger: FastifyBaseLogger,
  clock = () => performance.now(),
): WebhookHooks {
  let loggedAt = -Infinity
  let failures = 0
  return {
    onDelivered: () => undefined,
    onFailed(_webhook, reason) {
      failures += 1
      if (clock() - loggedAt < FAILURES_EVERY_MS) return
      logger.warn({ failures, reason }, 'webhooks could not be delivered; they are tried again')
      loggedAt = clock()
      failures = 0
    },
    onParked({ id, userId, type }, reason) {
      const event = { webhook_id: id, user_id: userId, type, reason }
      logger.error(event, 'a webhook was parked, because it failed for a day')
    },
    onDropped(userId, events) {
      const dropped = { user_id: userId, events }
      logger.error(dropped, 'events were deleted before a webhook delivered them')
    },
    onError(err) {
      logger.error({ err }, 'delivering webhooks failed; it goes on soon')
    },
  }
}
