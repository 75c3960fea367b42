import { finished, type Readable } from 'node:stream'
import { settledUnlessAborted } from '../core/async/deadline.ts'
import { storeError } from './store-error.ts'

export interface ReceivedBody {
  /** Set if the body did not end normally. */
  readonly failure: { readonly error: unknown } | undefined
}

export interface ReceivingBody {
  readonly bytes: AsyncGenerator<Uint8Array, void>
  /** Aborts when the work must stop. */
  readonly signal: AbortSignal
  /** Aborts when the body fails, even while `bytes` is not being read. */
  readonly broken: AbortSignal
}

/**
 * Calls `sink` with the bytes of `body`. They end when the body ends or fails. Rejects only if `sink` rejects, even
 * while the body stalls, or `signal` aborts: with `storeError`, the body destroyed and the signal of `sink` aborted.
 */
export async function receiveBody(
  { body, signal }: { readonly body: Readable; readonly signal: AbortSignal },
  sink: (receiving: ReceivingBody) => Promise<void>,
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
  const bytes = untilFailure(body)
  try {
    signal.throwIfAborted()
    const stop = AbortSignal.any([signal, stopped.signal])
    await settledUnlessAborted(sink({ bytes, signal: stop, broken: broken.signal }), signal)
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
