import { AppError } from '../errors.ts'
import type { ParkedPlace, ParkedWebhook, WebhookLedger } from './webhook-ledger.ts'
import type { WebhookSender } from './webhook.ts'

/** For operators: the events that could not be delivered for 24 hours. Kept for `EVENT_LIFETIME`. */
export type ParkedWebhooks = ReturnType<typeof createParkedWebhooks>

export function createParkedWebhooks(ledger: WebhookLedger, sender: WebhookSender | undefined) {
  return {
    list: (page: { readonly after: ParkedPlace | undefined; readonly limit: number }) =>
      ledger.listParked(page),

    /**
     * Sends it once more, now, and forgets it if it is delivered. Rejects with `not_found`, and with `webhook_failed`
     * if the receiver does not accept it or none is configured; then it stays.
     */
    async retry(id: string, signal: AbortSignal): Promise<ParkedWebhook> {
      const parked = await ledger.findParked(id)
      if (parked === undefined) throw new AppError('not_found', 'No parked webhook has this id.')
      if (sender === undefined) throw new AppError('webhook_failed', 'WEBHOOK_URL is not set.')
      const delivery = await sender.send(parked, signal)
      if (!delivery.isDelivered) throw new AppError('webhook_failed', delivery.reason)
      await ledger.deleteParked(id)
      return parked
    },

    /** Idempotent; `undefined` if it was not there. */
    discard: (id: string) => ledger.deleteParked(id),
  }
}
