import type { WebhookHooks } from '../core/webhooks/delivery.ts'
import type { WebhookLedger } from '../core/webhooks/webhook-ledger.ts'
import { type Instruments, MAX_COUNTED } from './instruments.ts'
import { createScrape, type Scrape } from './scrape.ts'

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
    onExpired(userId, events) {
      webhooks?.expired.inc(events)
      hooks.onExpired(userId, events)
    },
  }
}

export function createWebhookScrape(
  gauges: Instruments['webhooks'],
  ledger: Pick<WebhookLedger, 'measureWebhooks'>,
): Scrape {
  return createScrape({
    clear: () => {
      gauges?.parked.remove()
      gauges?.age.remove()
    },
    read: async () => {
      if (gauges === undefined) return
      const { parked, oldestMs } = await ledger.measureWebhooks(MAX_COUNTED)
      gauges.parked.set(parked)
      gauges.age.set(oldestMs / 1000)
    },
  })
}
