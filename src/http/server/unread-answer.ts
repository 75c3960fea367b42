import type { FastifyReply } from 'fastify'
import { holdSlot, ReaderSlots } from './reader-slots.ts'
import { breakOff } from './request-outcome.ts'

/** An answer that nobody reads ends after this time to twice as long; see `limitReader`. */
const READER_TIMEOUT_MS = 30_000

/** The kernel takes this much at once, so it does not wait in the process. */
const SMALL_BYTES = 16 * 1024

const WAITING = {
  perOwner: 16 * 2 ** 20,
  total: 64 * 2 ** 20,
  counted: 'bytes in answers that have not been read',
}

/**
 * Bounds the time and the memory of answers that clients do not read, except for downloads, which have bounds of their
 * own. The returned function is called with each payload before it is sent, and returns what to send. It throws
 * `too_many_requests` and `unavailable`. Buffers take no memory of their own: they are shared, as those of a web page.
 */
export function limitUnreadAnswers(
  readerTimeoutMs: number | undefined,
): (reply: FastifyReply, payload: unknown) => unknown {
  const slots = new ReaderSlots(WAITING)
  return (reply, payload) => {
    limitReader(reply, readerTimeoutMs)
    if (typeof payload !== 'string' || payload.length < SMALL_BYTES) return payload
    // Node would reserve three bytes for each character that waits.
    const bytes = Buffer.from(payload)
    holdSlot(slots, reply, { size: bytes.length, kind: 'answer' })
    return bytes
  }
}

/** Ends the connection if the client reads nothing of its answer for `timeoutMs` to twice as long. */
export function limitReader(reply: FastifyReply, timeoutMs = READER_TIMEOUT_MS): void {
  reply.raw.setTimeout(timeoutMs, () => breakOff(reply, 'the answer was not read'))
}
