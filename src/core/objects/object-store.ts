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
  /** If the store neither has nor will have any of the object, called before `put` rejects: no removal is needed. */
  readonly onUntouched?: (() => void) | undefined
}

/** The memory budget of one body. The caller provides it to the store. */
export interface BodyMemory {
  /**
   * Yields `content` chunk by chunk and counts each chunk as held. A chunk waits until there is room for it. Fails with
   * `unavailable` if that takes too long, or if others need the room more. Called once.
   */
  hold(content: AsyncIterable<Uint8Array>, options?: HoldOptions): AsyncGenerator<Uint8Array, void>
  /** `bytes` of the yielded content have left the store's memory. */
  release(bytes: number): void
  /** The store will not read the chunk again; the caller may free the chunk's memory at once. */
  detach(chunk: Uint8Array): void
}

export interface HoldOptions {
  /**
   * Bytes that the store collects before it sends a part; 0 if it collects none. Defaults to the memory's part size,
   * which is the maximum. A full part is sent when the next byte or the end arrives, independently of other held bytes.
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
  /** As given to `put`; empty if the store can't keep it. */
  readonly metadata: Readonly<Record<string, string>>
}

export interface OpenedObject {
  /** The caller must read a stream to its end or destroy it. If bytes are missing, it fails instead of ending. */
  readonly body: Readable | Uint8Array
  /**
   * Returns a chunk of `body` for immediate reuse. Called at most once per chunk, after its last read. Other chunks are
   * left to the garbage collector.
   */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
  /** Size of the whole object, whatever the range. */
  readonly size: number
}

/**
 * PORT: bytes under keys; sizes are in bytes. A key is written at most once, so no method replaces an object. Every
 * method rejects with `unavailable` (driver's error as `cause`) if the store fails or misses the adapter's deadline, or
 * if `signal` aborts. All methods may run concurrently, in any number of processes.
 */
export interface ObjectStore {
  /**
   * Guarantees, once resolved, that the object is complete, durable and readable by every instance; no reader sees it
   * earlier. `size` is the size that the *store* reports. Rejects as soon as the store fails, even while `body` stalls;
   * if `body` fails, rejects with that error. After a rejection, bytes can remain or arrive later, so callers `remove`
   * the key again later.
   */
  put(object: PutObject): Promise<{ readonly size: number }>

  /**
   * Resolves to `undefined` if the store reports no object. That does not prove a loss: a cluster with nodes down can
   * fail to find an object that it has.
   */
  open(object: OpenObject): Promise<OpenedObject | undefined>

  /** Returns size and metadata without the content; `undefined` as for `open`. */
  head(object: NamedObject): Promise<ObjectHead | undefined>

  /** Guarantees that no object, unfinished upload or temporary file is left. Idempotent. Open readers may fail. */
  remove(object: NamedObject): Promise<void>

  /** Yields the objects under `prefix` (which ends in `/`) in any order, without unfinished uploads. Bounded memory. */
  list(options: ListObjects): AsyncIterable<ListedObject>

  /**
   * Creates the bucket or folder if it is missing. Guarantees that the store accepts objects, or rejects with the
   * reason.
   */
  prepare(signal: AbortSignal): Promise<void>

  /** Guarantees that the store answers now, and that the bucket or folder exists. Changes nothing. */
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
 * Frees the memory of a chunk that no code reads any more, if the chunk spans its whole `ArrayBuffer`. Without this, V8
 * scans its whole heap for unused buffers every few megabytes, because it counts them as the program's memory.
 */
export function detachBuffer({ buffer, byteLength }: Uint8Array): void {
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  if (isAlone && byteLength >= MIN_BYTES) buffer.transfer(0)
}
