import { chunksOf, discardBody, type OpenedObject } from '../../../core/objects/object-store.ts'
import type { Piece } from '../../../core/objects/append-store.ts'
import type { BufferPool } from '../../buffer-pool.ts'
import type { S3Bucket } from '../bucket.ts'
import { openObject } from '../get-object.ts'
import { PartBuffer } from '../parts.ts'

/** Smaller pieces are merged once there are `MAX_SMALL` of them. */
const SMALL_BYTES = 256 * 1024
const MAX_SMALL = 32

/**
 * The pieces that the next one replaces: none, or all from the first small one on once 32 are small. So a tail has at
 * most 32 small pieces, and 32 large ones, since a part has no room for more (of 8 MiB). A large piece is rewritten at
 * most once. In a run of small appends each byte is rewritten about four times before its piece is large.
 */
export function piecesToMerge(tail: readonly Piece[]): readonly Piece[] {
  const isSmall = ({ size }: Piece): boolean => size < SMALL_BYTES
  return tail.filter(isSmall).length < MAX_SMALL ? [] : tail.slice(tail.findIndex(isSmall))
}

export interface ReadTail {
  /** In order, without gaps. */
  readonly pieces: readonly Piece[]
  readonly pool: BufferPool
  readonly signal: AbortSignal
}

/** Requested at a time, so that a tail of many small objects takes few round trips. */
const READ_AT_ONCE = 8

/** Reads objects of the tail into one content. Rejects if one is missing, which is no proof that it is lost. */
export async function readTail(bucket: S3Bucket, options: ReadTail): Promise<PartBuffer> {
  const { pieces, pool, signal } = options
  const content = new PartBuffer(pool)
  for (let at = 0; at < pieces.length; at += READ_AT_ONCE) {
    // After a failure the signal aborts, which closes the others.
    const opening = pieces
      .slice(at, at + READ_AT_ONCE)
      .map((piece) => openPiece(bucket, piece, signal))
    for (const opened of await Promise.all(opening)) {
      for await (const chunk of chunksOf(opened)) {
        content.add(chunk)
        if (content.isCopy) opened.release?.(chunk)
      }
    }
  }
  return content
}

async function openPiece(
  bucket: S3Bucket,
  { objectKey: key, size }: Piece,
  signal: AbortSignal,
): Promise<OpenedObject> {
  if (key === undefined) throw new TypeError('A part is not read back')
  const opened = await openObject(bucket, { key, signal })
  if (opened?.size === size) return opened
  if (opened !== undefined) discardBody(opened)
  throw new Error(`A piece of ${size} bytes was stored, the store states ${opened?.size}`)
}
