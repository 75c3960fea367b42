import type { Readable } from 'node:stream'
import type { BodyMemory } from '../memory/body-memory.ts'
import type { NamedObject, ObjectKey } from './object-key.ts'

/** A recorded section of the content: a part of the final object, or an object of the tail. */
export interface Piece {
  readonly firstByte: number
  readonly size: number
  /** Opaque to the caller, at most 256 characters: the store needs it to finish the upload. */
  readonly receipt: string
  /** The object that holds a piece of the tail; `undefined` for a part. */
  readonly objectKey: ObjectKey | undefined
}

/** A durable prefix of the content: all bytes before `offset` survive this process. */
export interface Durable {
  readonly offset: number
  /** Recorded pieces that begin at or after this byte are replaced by `pieces`. */
  readonly replacedFrom: number
  /** The pieces since the append began, by first byte. Empty for a store without pieces. */
  readonly pieces: readonly Piece[]
  /** What the store keeps about the upload, at most 1 KiB. The caller passes them to the next call for this upload. */
  readonly storeState: string
  /** The object is complete under its key, as after `finish`, which need not be called. */
  readonly isFinished?: boolean
}

export interface StoredUpload extends NamedObject {
  /** In bytes. The same in all calls for an upload. */
  readonly partSize: number
  /** As last recorded; `{}` initially. */
  readonly storeState: string
}

export interface AppendObject extends StoredUpload {
  /**
   * Read to its end or its failure; nothing that a body brings counts once it fails with `upload_length_exceeded`.
   * Destroyed only if `append` rejects, if the upload is lost, or on eviction.
   */
  readonly body: Readable
  /** Size of the body if known; a hint to claim less memory. */
  readonly bodySize?: number | undefined
  /** Where the body begins: all bytes before it are durable and recorded. */
  readonly offset: number
  /** The length of the whole content, if known. Bytes that reach it are stored as the last part. */
  readonly length: number | undefined
  /** The recorded pieces after the last full part. */
  readonly tail: readonly Piece[]
  /** The key for this append's tail; nothing else may ever be stored under it. */
  readonly tailKey: ObjectKey | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly memory?: BodyMemory | undefined
  /** As for `put`. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
  /** Called whenever a longer prefix has become durable, including the last one, or `storeState` has changed. */
  readonly onDurable: (durable: Durable) => void
  /** Called before anything is sent under `tailKey`, with the number of bytes. */
  readonly onTail: (bytes: number) => void
}

export interface AppendToPlan extends Pick<StoredUpload, 'partSize' | 'storeState'> {
  readonly offset: number
  readonly length: number | undefined
  /** Size of the body, if known. */
  readonly bodySize: number | undefined
  /** The caller may discard the whole append at its end because of a wrong checksum. The client then sends it again. */
  readonly isDiscardable?: boolean | undefined
  /** An earlier append to this upload was not released: its writes may still take effect. */
  readonly isTakeover: boolean
}

export interface PlannedAppend {
  /** To be recorded with the claim of the append, before it may write. */
  readonly storeState: string
  /** To be recorded with the release of the claim if `append` was not called. */
  readonly ifUnused: string
  /** Bytes that the append stores in addition to its body, at most. */
  readonly extraBytes: number
}

export interface FencedAppend extends NamedObject {
  /** The last one that the append reported. */
  readonly storeState: string
  /** As recorded after the fence; `undefined` if the upload is no longer recorded. */
  readonly recorded: string | undefined
}

export interface StoredAppend {
  readonly durable: Durable
  /** Why the body ended early: its own error, or the error of `memory`. */
  readonly failure?: unknown
}

export interface FinishObject extends StoredUpload {
  readonly size: number
  /** All recorded pieces, by first byte. */
  readonly pieces: readonly Piece[]
  readonly metadata: Readonly<Record<string, string>>
}

export interface RecordedUpload extends StoredUpload {
  /** All bytes before the offset are recorded. */
  readonly offset: number
  /** All recorded pieces, by first byte. */
  readonly pieces: readonly Piece[]
}

/**
 * The part of the port `ObjectStore` for contents that arrive in several requests, with the same rules for errors and
 * keys. `remove` of the upload's key also removes everything that appends have left, except tail objects, which have
 * keys of their own.
 */
export interface AppendStore {
  /** The size in bytes of every part except the last, for content of this length, or of unknown length. */
  partSizeFor(length: number | undefined): number

  /** Whether appends need a tail key. */
  readonly hasTails: boolean

  /** `undefined` if the state shows that an earlier append may have written the object itself: the upload is lost. */
  planAppend(append: AppendToPlan): PlannedAppend | undefined

  /**
   * Whether an append whose lease runs may be fenced when this state is recorded. `false` if the upload would then be
   * lost, or long work be done again: the append has to end first.
   */
  isFenceable(storeState: string): boolean

  /**
   * Stores `body` after the recorded pieces. When the body ends, for whatever reason, resolves to everything that is
   * durable, with the body's own error as `failure`. Rejects only if the store fails or `signal` aborts; what
   * `onDurable` has reported is durable even then. `undefined` if the store no longer has what was recorded. This is
   * final: the upload is lost, provided that the claim is still valid. Two appends to one upload never damage what is
   * recorded: a late write of a fenced append is harmless, or makes `finish` resolve to `undefined`.
   */
  append(append: AppendObject): Promise<StoredAppend | undefined>

  /**
   * Removes what a fenced append has stored and no other can use: what its state names and the recorded one does not.
   * Called after its `append` has ended, with a state that was recorded after the fence.
   */
  removeFenced(append: FencedAppend): Promise<void>

  /**
   * Guarantees that the object is complete under its key, as `put` does; `size` is the size that the store reports. Can
   * be repeated, even after it has succeeded. Requires that an append, possibly an empty one, knew the length and
   * reached it. `undefined` if the store no longer has all pieces. This is final: the upload is lost.
   */
  finish(upload: FinishObject): Promise<{ readonly size: number } | undefined>

  /**
   * Whether the store has every recorded byte, in the pieces or, after `finish`, in the object. Reads no content. If
   * the record has not changed since the call, `false` is final: the upload is lost.
   */
  isStored(upload: RecordedUpload): Promise<boolean>
}
