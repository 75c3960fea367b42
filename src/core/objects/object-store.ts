import type { Readable } from 'node:stream'
import type { ObjectKey } from './object-key.ts'

export interface PutObject extends NamedObject {
  /** `put` reads it to its end or destroys it. */
  readonly body: Readable
  /** An upper bound in bytes, if known; a hint for part sizes, not a promise. */
  readonly expectedSize?: number
  /** Small ASCII strings, kept with the object if the store supports it. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Bounds what `put` holds of the content; unlimited if omitted. */
  readonly memory?: BodyMemory
  /** Called before `put` rejects if the store has and will have nothing of the object: no removal is needed. */
  readonly onUntouched?: (() => void) | undefined
}

/** The memory budget for one body, lent to the store by the caller. */
export interface BodyMemory {
  /**
   * Yields `content` chunk by chunk and counts each chunk as held. A chunk without room waits; it fails with
   * `unavailable` when that takes too long or others need the room more. Called once.
   */
  hold(content: AsyncIterable<Uint8Array>, options?: HoldOptions): AsyncGenerator<Uint8Array, void>
  /** `bytes` of the yielded content have left the store's memory. */
  release(bytes: number): void
  /** The store no longer reads the chunk; the caller may free its memory at once. */
  detach(chunk: Uint8Array): void
}

export interface HoldOptions {
  /**
   * Bytes that the store gathers before it sends a part; 0 for none. The memory's part size, the largest, if omitted. A
   * full part is sent once the next byte or the end arrives, independently of other held bytes.
   */
  readonly partSize?: number
  /** An upper bound in bytes, if known; a hint to claim less memory. */
  readonly expectedSize?: number | undefined
}

/** First and last byte, both inclusive and inside the content. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

export interface NamedObject {
  readonly key: ObjectKey
  readonly signal: AbortSignal
}

export interface OpenObject extends NamedObject {
  readonly range?: ByteRange
}

export interface ListObjects {
  readonly prefix: string
  readonly signal: AbortSignal
}

export interface ListedObject {
  readonly key: ObjectKey
  readonly size: number
}

export interface ObjectHead {
  readonly size: number
  /** As given to `put`; empty where the store could not keep it. */
  readonly metadata: Readonly<Record<string, string>>
}

export interface OpenedObject {
  /** A stream must be read to its end or destroyed. It fails, and never just ends, when bytes are missing. */
  readonly body: Readable | Uint8Array
  /** Returns a chunk of `body` for immediate reuse, once, after its last read. The GC takes the rest. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
  /** Size of the whole object, whatever the range. */
  readonly size: number
}

/**
 * PORT: bytes under keys; sizes are in bytes. A key is written at most once, so no method replaces an object. Every
 * method rejects with `unavailable` (driver's error as `cause`) when the store fails, misses the adapter's deadline, or
 * `signal` aborts. All methods may run concurrently, in any number of processes.
 */
export interface ObjectStore {
  /**
   * Guarantees, once resolved, that the object is whole, durable and readable by every instance; no reader sees it
   * earlier. `size` is what the *store* reports. Rejects as soon as the store fails, even while `body` stalls, and with
   * `body`'s own error. Bytes can remain after a rejection, or land later, so callers `remove` the key again later.
   */
  put(object: PutObject): Promise<{ readonly size: number }>

  /** `undefined` when the store reports no object. That does not prove a loss: a cluster with nodes down can fail to find an object that it has. */
  open(object: OpenObject): Promise<OpenedObject | undefined>

  /** Size and metadata without the content; `undefined` as for `open`. */
  head(object: NamedObject): Promise<ObjectHead | undefined>

  /** Guarantees that no object, unfinished upload or temporary file is left. Idempotent. Open readers may fail. */
  remove(object: NamedObject): Promise<void>

  /** Yields the objects under `prefix` (ends in `/`), unordered, in bounded memory, without unfinished uploads. */
  list(options: ListObjects): AsyncIterable<ListedObject>

  /** Guarantees that the store can take objects, creating the bucket or folder if it is missing; otherwise rejects with the reason. */
  prepare(signal: AbortSignal): Promise<void>

  /** Guarantees that the store answers now and that bucket or folder exists. Changes nothing. */
  check(signal: AbortSignal): Promise<void>

  /** Releases sockets and files. No method may be called afterwards. */
  close(): Promise<void>
}

export function chunksOf({
  body,
}: Pick<OpenedObject, 'body'>): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return body instanceof Uint8Array ? [body] : body
}

export function discardBody({ body }: Pick<OpenedObject, 'body'>): void {
  if (!(body instanceof Uint8Array)) body.destroy()
}

/** A smaller chunk is not worth the call, and may be a slice of a shared pool. */
const MIN_BYTES = 4 * 1024

/**
 * Frees the memory of a chunk that nobody reads any more, if the chunk spans its whole `ArrayBuffer`. Otherwise V8
 * scans its whole heap for unused buffers every few megabytes, because it counts them as the program's memory.
 */
export function detachBuffer({ buffer, byteLength }: Uint8Array): void {
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  if (isAlone && byteLength >= MIN_BYTES) buffer.transfer(0)
}
