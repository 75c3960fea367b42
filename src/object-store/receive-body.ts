import { finished, type Readable } from 'node:stream'
import { settledUnlessAborted } from '../core/async/deadline.ts'
import type { BodyMemory, HoldOptions } from '../core/objects/body-memory.ts'
import { storeError } from './store-error.ts'

export interface ReceivedBody {
  /** Set if the body did not end normally. */
  readonly failure: { readonly error: unknown } | undefined
}

export interface ReceiveBody {
  readonly body: Readable
  readonly memory?: BodyMemory | undefined
  readonly hold?: Omit<HoldOptions, 'signal'>
  readonly signal: AbortSignal
}

/**
 * Calls `sink` with the bytes of `body`. They end when the body ends or fails, or when `memory` refuses more. Rejects
 * only if `sink` rejects, even while the body stalls, or `signal` aborts: with `storeError`, the body destroyed and the
 * signal of `sink` aborted.
 */
export async function receiveBody(
  { body, memory, hold, signal }: ReceiveBody,
  sink: (bytes: AsyncGenerator<Uint8Array, void>, signal: AbortSignal) => Promise<void>,
): Promise<ReceivedBody> {
  const broken = new AbortController()
  const stopped = new AbortController()
  let failure: ReceivedBody['failure']
  async function* untilFailure(chunks: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of chunks) {
        if (!(chunk instanceof Uint8Array)) throw new TypeError('A body yields bytes')
        yield chunk
      }
    } catch (error) {
      failure ??= { error }
    }
  }
  // The body can fail while nobody reads it, and after this call.
  body.on('error', () => undefined)
  const forget = finished(body, { writable: false }, (error) => error && broken.abort(error))
  const content = untilFailure(body)
  // A failed body ends a wait for memory. A refusal of memory is no failure of the store, so it only ends the bytes.
  const held = memory?.hold(content, { ...hold, signal: broken.signal })
  const bytes = held === undefined ? content : untilFailure(held)
  try {
    signal.throwIfAborted()
    const sinking = sink(bytes, AbortSignal.any([signal, stopped.signal]))
    await settledUnlessAborted(sinking, signal)
    return { failure }
  } catch (error) {
    const cause = storeError(error)
    stopped.abort(cause)
    body.destroy(cause)
    throw cause
  } finally {
    forget()
    void bytes.return()
  }
}
