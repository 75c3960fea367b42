import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { storeError } from './store-error.ts'

/** A body on its way into a store. */
export interface Source {
  readonly bytes: AsyncIterable<Uint8Array>
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
  let result: { readonly value: T } | undefined
  let failure: { readonly error: unknown } | undefined
  async function* read(chunks: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of chunks) {
        if (!(chunk instanceof Uint8Array)) throw new TypeError('A body yields bytes')
        yield chunk
      }
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  async function run(chunks: AsyncIterable<unknown>, { signal: stop } = { signal }): Promise<void> {
    try {
      result = { value: await sink({ bytes: read(chunks), signal: stop }) }
    } catch (error) {
      // Once it has stopped the sink, pipeline knows the first failure; this one is its echo.
      if (!stop.aborted) throw error === failure?.error ? error : storeError(error)
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

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
