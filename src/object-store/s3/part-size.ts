export const DEFAULT_PART_SIZE = 8 * 1024 * 1024

const MAX_PARTS = 10_000

/** Part size for a file of up to `size` bytes: S3 accepts 10,000 parts. */
export function partSizeFor(size: number, min = DEFAULT_PART_SIZE): number {
  return Math.max(min, Math.ceil(size / MAX_PARTS))
}
