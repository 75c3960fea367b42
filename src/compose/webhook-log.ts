import type { FastifyBaseLogger } from 'fastify'
import type { UserId } from '../core/users/user-id.ts'
import type { WebhookHooks } from '../core/webhooks/delivery.ts'

/** Each kind of failure is logged at most once a minute; expired events once a minute for each user. */
const EVERY_MS = 60_000

export function logWebhooks(
  logger: FastifyBaseLogger,
  clock = () => performance.now(),
): WebhookHooks {
  const logged = { attempts: -Infinity, expired: -Infinity, errors: -Infinity }
  const expiredOf = new Set<UserId>()
  let failures = 0
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
    onExpired(userId, events) {
      if (isTime('expired')) expiredOf.clear()
      if (expiredOf.has(userId)) return
      expiredOf.add(userId)
      const expired = { user_id: userId, events }
      logger.error(expired, 'events were deleted before a webhook delivered them')
    },
    onError(err) {
      if (isTime('errors')) logger.error({ err }, 'delivering webhooks failed; it goes on soon')
    },
  }
}
