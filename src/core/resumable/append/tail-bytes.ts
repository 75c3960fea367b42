import type { Durable, Piece } from '../append-store.ts'
import type { TailBytes } from '../resumable-options.ts'

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
