import type { Webhook } from './webhook.ts'

export type Delivery =
  | { readonly isDelivered: true }
  | {
      readonly isDelivered: false
      /** For operators: what the receiver answered, or why it was not reached. */
      readonly reason: string
      /** What the receiver asks for. */
      readonly retryAfterMs: number | undefined
    }

/** PORT: the receiver of webhooks. */
export interface WebhookSender {
  /** One signed attempt, of at most `SEND_TIMEOUT_MS`. Rejects only with the signal's reason. */
  send(webhook: Pick<Webhook, 'id' | 'body'>, signal: AbortSignal): Promise<Delivery>
}

export const SEND_TIMEOUT_MS = 10_000
