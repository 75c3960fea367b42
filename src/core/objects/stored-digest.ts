import { AppError } from '../errors.ts'
import { type ContentDigest, DigestState } from './content-digest.ts'
import { chunksOf, discardBody, type ObjectStore } from './object-store.ts'
import type { ObjectKey } from './object-key.ts'

export interface ReadStoredDigest {
  readonly objects: ObjectStore
  readonly key: ObjectKey
  /** Expected bytes; an object of another size is not read. */
  readonly size: number
  /** Called with the bytes of each chunk read, including those of failed attempts. */
  readonly onBytes: (bytes: number) => void
  readonly signal: AbortSignal
}

export type StoredDigest =
  | ContentDigest
  /** No object (`head` is `undefined`), or one of another size. */
  | {
      readonly sha256?: undefined
      readonly isUnreadable: false
      readonly head: { readonly size: number } | undefined
    }
  | { readonly sha256?: undefined; readonly isUnreadable: true }

const READ_ATTEMPTS = 2

/**
 * Reads an object to compute its digest. If reading keeps failing while the store answers, for example because the data
 * is corrupt, the object is unreadable. Rejects with `unavailable` if the store is down, and with the signal's reason.
 */
export async function readStoredDigest(options: ReadStoredDigest): Promise<StoredDigest> {
  const { objects, signal } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await read(options)
    } catch (error) {
      // A body that the signal cuts off fails with an error of its own.
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      // Rejects when the store is down, which says nothing about this object.
      await objects.check(signal)
      if (attempt === READ_ATTEMPTS) return { isUnreadable: true }
    }
  }
}

async function read({
  objects,
  key,
  size,
  onBytes,
  signal,
}: ReadStoredDigest): Promise<StoredDigest> {
  const opened = await objects.open({ key, signal })
  if (opened?.size !== size) {
    if (opened !== undefined) discardBody(opened)
    return { isUnreadable: false, head: opened }
  }
  const state = new DigestState()
  for await (const chunk of chunksOf(opened)) {
    state.update(chunk)
    onBytes(chunk.byteLength)
    opened.release?.(chunk)
  }
  return state.end()
}
