import type { FileLedger } from '../files/file-ledger.ts'
import type { StorageOptions } from '../uploads/upload.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'
import type { ResumableLedger } from './resumable-ledger.ts'
import type { Durable, Piece } from '../objects/append-store.ts'

export interface ResumableOptions extends StorageOptions {
  readonly ledger: ResumableLedger & UploadLedger & FileLedger
  /** Called after a finish has committed the file, with its size in bytes. */
  readonly onStored?: ((bytes: number) => void) | undefined
  /** Called after a finish has read the object to compute its digest, with the number of bytes read. */
  readonly onReread?: ((bytes: number) => void) | undefined
  /** Called when an upload has ended because the store no longer has its bytes. */
  readonly onLost?: (() => void) | undefined
  /** Called after each append. */
  readonly onAppended?: ((bytes: TailBytes) => void) | undefined
}

/** Bytes of tail objects that one append has stored, and that it has read back. */
export interface TailBytes {
  readonly stored: number
  readonly readBack: number
}

/**
 * Bytes that an append has stored as tail objects, and read back from earlier ones to complete a part or merge them.
 */
export function tailBytes(tail: readonly Piece[], { pieces, replacedFrom }: Durable): TailBytes {
  const stored = pieces.filter(({ objectKey: key }) => key !== undefined)
  const readBack = tail.filter(({ firstByte }) => firstByte >= replacedFrom)
  return { stored: sizeOf(stored), readBack: sizeOf(readBack) }
}

function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { size }) => sum + size, 0)
}
