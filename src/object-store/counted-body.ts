import { addAbortSignal, Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { unavailable } from './unavailable.ts'

/** Where the bytes of an opened object come from. */
export interface ByteSource {
  /** The next bytes, `undefined` at the end. Called when a reader wants bytes, never twice at a time. */
  next(): Promise<Uint8Array | undefined>
  /** Releases the source, also while `next` is under way. Called once. */
  close(): Promise<void>
}

/**
 * Returns the body of an opened object: exactly `length` bytes, or a failure with `unavailable`. It asks the
 * source only while a reader wants bytes, and closes it at its end, when it fails, is destroyed, or `signal` aborts.
 */
export function createCountedBody(
  source: ByteSource,
  { length, signal }: { readonly length: number; readonly signal: AbortSignal },
): Readable {
  let missing = length
  const pull = async () => {
    try {
      const chunk = await source.next()
      missing -= chunk?.byteLength ?? 0
      if (missing < 0 || (chunk === undefined && missing > 0)) {
        throw new Error(`The object's content misses its length by ${missing} bytes`)
      }
      body.push(chunk ?? null)
    } catch (error) {
      body.destroy(unavailable(error))
    }
  }
  const close = callbackify(() => source.close())
  const body = new Readable({
    read: () => void pull(),
    destroy: (error, done) => close((failure) => done(error ?? failure)),
  })
  return addAbortSignal(signal, body)
}
