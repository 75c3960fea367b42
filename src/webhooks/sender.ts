import { settledWithin, withDeadline } from '../core/async/deadline.ts'
import { messageOf } from '../core/errors.ts'
import { type Delivery, SEND_TIMEOUT_MS, type WebhookSender } from '../core/webhooks/webhook.ts'
import { createHmac } from 'node:crypto'

export interface WebhookReceiver {
  readonly url: string
  /** Keys of at least 24 bytes. While they are rotated, the receiver may know only one of them. */
  readonly secrets: readonly Buffer[]
  /** For tests; `SEND_TIMEOUT_MS` by default. */
  readonly timeoutMs?: number
}

/**
 * Sends by Standard Webhooks (docs/webhooks.md). The head of the answer decides: every status but 2xx is a failure.
 * Redirects are not followed.
 */
export function createWebhookSender({
  url,
  secrets,
  timeoutMs = SEND_TIMEOUT_MS,
}: WebhookReceiver): WebhookSender {
  return {
    async send({ id, body }, signal) {
      const timestamp = Math.floor(Date.now() / 1000)
      const post = (until: AbortSignal): Promise<Response> =>
        fetch(url, {
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
      try {
        const response = await withDeadline({ ms: timeoutMs, signal }, post)
        await readAway(response)
        return response.ok ? { isDelivered: true } : refused(response)
      } catch (error) {
        signal.throwIfAborted()
        return { isDelivered: false, reason: reasonOf(error), retryAfterMs: undefined }
      }
    },
  }
}

const MAX_READ_BYTES = 4_096
const MAX_READ_MS = 500

/**
 * Reads the content of a short answer, so that its connection can be used again, and drops the connection of any other.
 * Never rejects: the head has decided, even if the content is broken or does not end.
 */
async function readAway({ body, headers }: Response): Promise<void> {
  if (body === null) return
  const reader = body.getReader()
  try {
    // `fetch` would decode it.
    const isReadable = !headers.has('content-encoding')
    const isRead = isReadable && (await settledWithin(MAX_READ_MS, readShort(reader)))
    if (isRead !== true) await settledWithin(MAX_READ_MS, reader.cancel())
  } catch {
    // Its connection is gone.
  }
}

async function readShort(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return true
    bytes += value.byteLength
    if (bytes > MAX_READ_BYTES) return false
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

interface Signed {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The value of `webhook-signature` (Standard Webhooks): one signature for each secret, separated by spaces. */
function signaturesOf({ id, timestamp, body }: Signed, secrets: readonly Buffer[]): string {
  const signed = `${id}.${timestamp}.${body}`
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    .join(' ')
}
