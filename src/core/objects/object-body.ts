import type { OpenedObject } from './object-store.ts'

/** The bytes of an opened object, chunk by chunk, however the store brings them. */
export function chunksOf({
  body,
}: Pick<OpenedObject, 'body'>): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return body instanceof Uint8Array ? [body] : body
}

/** Lets go of an opened object that nobody reads. */
export function discardBody({ body }: Pick<OpenedObject, 'body'>): void {
  if (!(body instanceof Uint8Array)) body.destroy()
}

/** Less is not worth the call, and may be a piece of a pool that others share. */
const MIN_BYTES = 4 * 1024

/**
 * Frees the memory of a chunk that nobody reads any more, where it has all of an `ArrayBuffer` to itself. V8 counts such
 * memory as the program's, and would look through all of its heap to find every few megabytes of it.
 */
export function detachBuffer({ buffer, byteLength }: Uint8Array): void {
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  if (isAlone && byteLength >= MIN_BYTES) buffer.transfer(0)
}
