/** Bytes. */
export const DEFAULT_PART_SIZE = 8 * 1024 * 1024

const MAX_PARTS = 10_000

/** Bytes of the parts in which a file of up to `size` bytes is sent: S3 takes 10,000 of them. */
export function partSizeFor(size: number, min = DEFAULT_PART_SIZE): number {
  return Math.max(min, Math.ceil(size / MAX_PARTS))
}
