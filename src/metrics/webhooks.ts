import type { WebhookHooks } from '../core/webhooks/delivery.ts'
import type { Instruments } from './instruments.ts'

/** Counts, then calls the hooks. */
export function meterWebhooks(hooks: WebhookHooks, { webhooks }: Instruments): WebhookHooks {
  return {
    ...hooks,
    onDelivered() {
      webhooks?.attempts.inc({ end: 'delivered' })
      hooks.onDelivered()
    },
    onFailed(event, reason) {
      webhooks?.attempts.inc({ end: 'failed' })
      hooks.onFailed(event, reason)
    },
    onDropped(userId, events) {
      webhooks?.dropped.inc(events)
      hooks.onDropped(userId, events)
    },
  }
}
