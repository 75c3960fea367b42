import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { storeError } from './store-error.ts'

/** A body on its way into a store. */
export interface Source {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Bytes that have come so far. */
  readonly count: () => number
  /** Aborts when the body fails or the caller gives up, also while `bytes` is not being read. */
  readonly signal: AbortSignal
}

/**
 * Hands `body` to `sink` and settles as `sink` does, but rejects at once when the body fails (with that very
 * error) or `signal` aborts. Whatever `sink` rejects with comes out as `storeError`. Whatever happens, `body`
 * has been read to its end or destroyed, and the first failure is the one reported.
 */
export async function consumeBody<T>(
  { body, signal }: { readonly body: Readable; readonly signal: AbortSignal },
  sink: (source: Source) => Promise<T>,
): Promise<T> {
  const meter = new BodyMeter()
  let result: { readonly value: T } | undefined
  async function run(chunks: AsyncIterable<unknown>, { signal: stop } = { signal }): Promise<void> {
    try {
      const source = { bytes: meter.read(chunks), count: () => meter.count, signal: stop }
      result = { value: await sink(source) }
    } catch (error) {
      // Once it has stopped the sink, pipeline knows the first failure; this one is its echo.
      if (!stop.aborted) throw meter.isFailure(error) ? error : storeError(error)
    }
  }
  try {
    await pipeline(body, run, { signal })
  } catch (error) {
    throw isAbort(error) && signal.aborted ? storeError(signal.reason) : error
  }
  if (result === undefined) throw storeError(new Error('The body was not received'))
  return result.value
}

/** Counts a body's bytes, and remembers its failure so that it can be told from those of the sink. */
class BodyMeter {
  count = 0
  #failure: { readonly error: unknown } | undefined

  async *read(chunks: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of chunks) {
        if (!(chunk instanceof Uint8Array)) throw new TypeError('A body yields bytes')
        this.count += chunk.byteLength
        yield chunk
      }
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }

  isFailure(error: unknown): boolean {
    return this.#failure !== undefined && this.#failure.error === error
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
