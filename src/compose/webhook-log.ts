import type { FastifyBaseLogger } from 'fastify'
import type { WebhookHooks } from '../core/webhooks/delivery.ts'

/** Whatever fails, fails at every attempt, and drops events of many users: these make one entry a minute. */
const EVERY_MS = 60_000

export function logWebhooks(
  logger: FastifyBaseLogger,
  clock = () => performance.now(),
): WebhookHooks {
  const logged = { attempts: -Infinity, dropped: -Infinity, errors: -Infinity }
  let failures = 0
  let dropped = 0
  function isTime(of: keyof typeof logged): boolean {
    if (clock() - logged[of] < EVERY_MS) return false
    logged[of] = clock()
    return true
  }
  return {
    onDelivered: () => undefined,
    onFailed(_webhook, reason) {
      failures += 1
      if (!isTime('attempts')) return
      logger.warn({ failures, reason }, 'webhooks could not be delivered; they are tried again')
      failures = 0
    },
    onParked({ id, userId, type }, reason) {
      const event = { webhook_id: id, user_id: userId, type, reason }
      logger.error(event, 'a webhook was parked, because it failed for a day')
    },
    onDropped(userId, events) {
      dropped += events
      if (!isTime('dropped')) return
      const last = { user_id: userId, events: dropped }
      logger.error(last, 'events were deleted before a webhook delivered them')
      dropped = 0
    },
    onError(err) {
      if (isTime('errors')) logger.error({ err }, 'delivering webhooks failed; it goes on soon')
    },
  }
}
