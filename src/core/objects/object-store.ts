import type { Readable } from 'node:stream'
import type { ObjectKey } from './object-key.ts'

export interface PutObject extends NamedObject {
  /** The content, read once. `put` reads it to its end or destroys it. */
  readonly body: Readable
  /** Bytes to come, when the caller knows or can bound them; a hint for part sizes, not a promise. */
  readonly expectedSize?: number
  /** Small ASCII strings kept with the object where the store can keep them. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Bounds what `put` holds of the content. Without limit when left out. */
  readonly memory?: BodyMemory
  /** Called before `put` rejects when nothing of the object can be in the store, now or later: there is nothing to remove. */
  readonly onUntouched?: (() => void) | undefined
}

/** The memory of a body on its way into a store: the caller's, which the store borrows. */
export interface BodyMemory {
  /**
   * Passes `content` on, piece by piece, and counts what it has passed as held. A piece for which there is no room waits;
   * when that takes too long, or the room is needed more by others, it fails with `unavailable`. Called once.
   */
  hold(content: AsyncIterable<Uint8Array>, options?: HoldOptions): AsyncGenerator<Uint8Array, void>
  /** `bytes` of what was passed on are gone from the store's memory. */
  release(bytes: number): void
  /** The store has copied a piece, or is done with it, and reads it no more: the caller may free its memory at once. */
  detach(piece: Uint8Array): void
}

export interface HoldOptions {
  /**
   * What the store gathers before it sends it on, in bytes: as soon as the next byte or the end has come, without anything
   * else that is held. 0 when it gathers nothing. The memory's own part size, which is the largest, when left out.
   */
  readonly partSize?: number
  /** The most bytes that will come in all, when that is known; a hint, by which less is claimed. */
  readonly expectedSize?: number | undefined
}

/** First and last byte, both included, both inside the content. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

export interface NamedObject {
  readonly key: ObjectKey
  readonly signal: AbortSignal
}

export interface OpenObject extends NamedObject {
  /** The whole object when left out. */
  readonly range?: ByteRange
}

export interface ListObjects {
  readonly prefix: string
  readonly signal: AbortSignal
}

export interface ListedObject {
  readonly key: ObjectKey
  /** Bytes. */
  readonly size: number
}

export interface ObjectHead {
  /** Bytes. */
  readonly size: number
  /** What `put` was given; empty where the store could not keep it. */
  readonly metadata: Readonly<Record<string, string>>
}

export interface OpenedObject {
  /**
   * The bytes, where all of them are there already; else a stream, which the caller reads to its end or destroys, and which
   * fails, and never just ends, when bytes are missing.
   */
  readonly body: Readable | Uint8Array
  /**
   * Takes back a chunk as `body` brought it, once, when nobody reads it any more: its memory may hold other bytes at once.
   * What is not given back is left to the garbage collector.
   */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
  /** Bytes of the whole object, whatever the range. */
  readonly size: number
}

/**
 * PORT: bytes under keys. A key is written at most once, so no method needs to replace an object.
 *
 * Every method rejects with `AppError` `unavailable` (with the driver's error as `cause`) when the store
 * fails, answers nothing within the adapter's deadline, or `signal` aborts; none waits for ever. All of
 * them may run in any number at once, from any number of processes.
 */
export interface ObjectStore {
  /**
   * Guarantees, once it resolves, that the object is whole, durable and readable by every instance; `size`
   * is the number of bytes that the *store* says it holds. Until then no reader sees any of it.
   * When it rejects, nothing of the object should be left, but a lost connection can leave or even later
   * land bytes, so callers `remove` the key again after a while. It rejects as soon as the store fails,
   * also while `body` has stalled; and when `body` fails it rejects with that very error.
   */
  put(object: PutObject): Promise<{ readonly size: number }>

  /**
   * Opens an object, or resolves to `undefined` when there is none under the key. Of an object that must be there that is
   * no proof: a cluster that misses nodes can deny what it holds.
   */
  open(object: OpenObject): Promise<OpenedObject | undefined>

  /** What is known of the object without reading its content, or `undefined` when there is none, as `open` says it. */
  head(object: NamedObject): Promise<ObjectHead | undefined>

  /**
   * Guarantees that nothing is left under the key: no object, no unfinished upload, no temporary file.
   * Removing what is not there is fine. Readers that opened it before may or may not finish.
   */
  remove(object: NamedObject): Promise<void>

  /**
   * Yields every object whose key begins with `prefix` (which ends in `/`), in no promised order, in bounded
   * memory. Unfinished uploads are not objects.
   */
  list(options: ListObjects): AsyncIterable<ListedObject>

  /** Guarantees that the store can take objects (bucket or folder made when missing), or says why not. */
  prepare(signal: AbortSignal): Promise<void>

  /** Guarantees that the store answers right now. Changes nothing; rejects also when bucket or folder is gone. */
  check(signal: AbortSignal): Promise<void>

  /** Releases sockets and files. No method may be called afterwards. */
  close(): Promise<void>
}

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
