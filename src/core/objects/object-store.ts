import type { Readable } from 'node:stream'
import type { AppendStore } from './append-store.ts'
import type { BodyMemory } from '../memory/body-memory.ts'
import type { NamedObject, ObjectKey } from './object-key.ts'

export interface PutObject extends NamedObject {
  /** `put` reads a stream to its end or destroys it. */
  readonly body: Readable | Uint8Array
  /** An upper bound in bytes, if known; a hint for part sizes, not a promise. */
  readonly expectedSize?: number | undefined
  /** The content's SHA-256 in hexadecimal, for a store that needs it. Must not be called before a stream has ended. */
  readonly sha256?: () => string
  /** Small ASCII strings, kept with the object if the store supports it. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Bounds what `put` collects of a stream; unlimited if omitted. */
  readonly memory?: BodyMemory | undefined
  /** Frees a chunk of a stream at once. Called at most once per chunk, after its last read. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
  /** If the store neither has nor will have any of the object, called before `put` rejects: no removal is needed. */
  readonly onUntouched?: (() => void) | undefined
}

/** First and last byte, both inclusive and inside the content. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

export interface OpenObject extends NamedObject {
  readonly range?: ByteRange | undefined
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
export interface ObjectStore extends AppendStore {
  /**
   * Guarantees, once resolved, that the object is complete, durable and readable by every instance; no reader sees it
   * earlier. `size` is the size that the *store* reports. Rejects as soon as the store fails, even while `body` stalls;
   * if `body` fails, rejects with that error. After a rejection, bytes can remain or arrive later, so callers `remove`
   * the key again later.
   */
  put(object: PutObject): Promise<{ readonly size: number }>

  /**
   * Resolves to `undefined` if the store has no object. The adapter of a cluster, one of whose nodes may not have found
   * its peers yet, asks again for at least 500 ms before it says so. While too many nodes are down, no wait is long
   * enough, so it proves no loss.
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

  /**
   * Resolves to what `createIdentity` gave the store, by any database, or to `undefined` if the store, the bucket or the
   * folder has no identity. Changes nothing.
   */
  readIdentity(signal: AbortSignal): Promise<string | undefined>

  /**
   * Gives a prepared store without an identity this UUID, durably. No other method changes it, and `list` does not yield
   * it. If the store has been given one meanwhile, that one stays, provided that the store supports conditional writes.
   * Resolves to the one that it has afterwards. Idempotent.
   */
  createIdentity(identity: string, signal: AbortSignal): Promise<string>

  /** Guarantees that the store answers now, and that the bucket or folder exists. Changes nothing. */
  check(signal: AbortSignal): Promise<void>

  /** Releases sockets and files. No method may be called afterwards. */
  close(): Promise<void>
}

/** The file or object that holds the identity of a store, outside of all object keys. */
export const IDENTITY_NAME = 'store-id'

/** More than an identity has. What is larger is none, and is not read. */
export const MAX_IDENTITY_BYTES = 128

const IDENTITY = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns the identity in the content of `IDENTITY_NAME`, or `undefined` if there is none. */
export function parseIdentity(content: Uint8Array): string | undefined {
  const text = Buffer.from(content).toString().trim()
  return IDENTITY.test(text) ? text : undefined
}

interface Content {
  readonly body: Readable | Uint8Array
}

export function chunksOf({ body }: Content): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return body instanceof Uint8Array ? [body] : body
}

export function discardBody({ body }: Content): void {
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
