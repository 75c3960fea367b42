import { withDeadline } from '../core/async/deadline.ts'
import { messageOf } from '../core/errors.ts'
import {
  type Delivery,
  SEND_TIMEOUT_MS,
  type WebhookSender,
} from '../core/webhooks/webhook-sender.ts'
import { signaturesOf } from './signature.ts'

export interface WebhookReceiver {
  readonly url: string
  /** Keys of at least 24 bytes. While they are rotated, the receiver may know only one of them. */
  readonly secrets: readonly Buffer[]
  /** For tests; `SEND_TIMEOUT_MS` by default. */
  readonly timeoutMs?: number
}

/** Sends by Standard Webhooks (docs/webhooks.md). Every answer but 2xx is a failure; redirects are not followed. */
export function createWebhookSender({
  url,
  secrets,
  timeoutMs = SEND_TIMEOUT_MS,
}: WebhookReceiver): WebhookSender {
  return {
    async send({ id, body }, signal) {
      const timestamp = Math.floor(Date.now() / 1000)
      const post = async (until: AbortSignal): Promise<Delivery> => {
        const response = await fetch(url, {
          method: 'POST',
          redirect: 'manual',
          headers: {
            'content-type': 'application/json',
            'accept-encoding': 'identity',
            'user-agent': 'cloud-repository',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signaturesOf({ id, timestamp, body }, secrets),
          },
          body,
          signal: until,
        })
        // The status decides, even if the rest of the answer is broken.
        await readAway(response).catch(() => undefined)
        return response.ok ? { isDelivered: true } : refused(response)
      }
      try {
        return await withDeadline({ ms: timeoutMs, signal }, post)
      } catch (error) {
        signal.throwIfAborted()
        return { isDelivered: false, reason: reasonOf(error), retryAfterMs: undefined }
      }
    },
  }
}

const MAX_READ_BYTES = 4_096

/** Reads a short answer, so that its connection can be used again, and cuts off a long one. */
async function readAway({ body, headers }: Response): Promise<void> {
  // `fetch` would decode it.
  if (headers.has('content-encoding')) return await body?.cancel()
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += (chunk as Uint8Array).byteLength
    if (bytes > MAX_READ_BYTES) return
  }
}

function refused({ status, headers }: Response): Delivery {
  const retryAfterMs = retryAfterOf(headers.get('retry-after') ?? '')
  return { isDelivered: false, reason: `The receiver answered ${status}.`, retryAfterMs }
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3). */
function retryAfterOf(value: string): number | undefined {
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : undefined
}

/** Of the reason of a failure, in UTF-16 code units. */
export const MAX_REASON_LENGTH = 200

/** `fetch` says in the cause why a server was not reached. */
function reasonOf(error: unknown): string {
  const isTimeout = error instanceof Error && error.name === 'TimeoutError'
  if (isTimeout) return 'The receiver did not answer in time.'
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error
  return `${`The receiver was not reached: ${messageOf(cause)}`.slice(0, MAX_REASON_LENGTH - 1)}.`
}
