import { hash } from 'node:crypto'
import type { Change } from '../changes/change.ts'
import { changeJson } from '../changes/change-json.ts'
import { formatTimestamp } from '../timestamp.ts'
import type { UserId } from '../users/user-id.ts'
import type { WebhookEvent } from './webhook-events.ts'

/** How long an event may fail until it is parked. A receiver can ask for no longer wait. */
export const PARK_AFTER_MS = 24 * 60 * 60_000

/** One event as it is sent: the same id and body at every attempt. */
export interface Webhook {
  /** `msg_` and 32 base64url characters. */
  readonly id: string
  readonly userId: UserId
  readonly type: WebhookEvent
  /** When it happened, milliseconds since 1970 by the database's clock. */
  readonly at: number
  /** JSON: `{"type", "timestamp", "data"}`. */
  readonly body: string
}

export function webhookOf(userId: UserId, change: Change): Webhook {
  const { type, at, sequence } = change
  return {
    id: idOf([userId, at, sequence]),
    userId,
    type,
    at,
    body: bodyOf(type, at, { user_id: userId, ...changeJson(change) }),
  }
}

/** The event of a deleted user whose files and rows are gone. */
export function purgeWebhook(userId: UserId, at: number): Webhook {
  const type = 'user.purged'
  return {
    id: idOf([userId, at, type]),
    userId,
    type,
    at,
    body: bodyOf(type, at, { user_id: userId }),
  }
}

export function bodyOf(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: formatTimestamp(at), data })
}

/** Ids and sequences of users can come back. With the time, which no restored history repeats, they are unique. */
function idOf(parts: readonly (string | number)[]): string {
  const digest = hash('sha256', parts.join(' '), 'base64url')
  return `msg_${digest.slice(0, 32)}`
}

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
