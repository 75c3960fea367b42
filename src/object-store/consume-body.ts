import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { storeError } from './store-error.ts'

export interface Source {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Aborts when the body fails or the caller gives up, even while `bytes` is not being read. */
  readonly signal: AbortSignal
}

/**
 * Settles as `sink` does, but rejects at once when `body` fails (with that very error) or `signal` aborts. All other
 * failures become `storeError`. Then `body` is at its end or destroyed; the first failure is the one reported.
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
      // When `pipeline` stops the sink, it already has the first failure; this one is an echo.
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
