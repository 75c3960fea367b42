import { AppError } from './errors.ts'

/** Sizes are whole bytes up to 2^53 - 1, so that JSON carries them exactly. */
export const MAX_BYTES = Number.MAX_SAFE_INTEGER

const SIZE = /^(\d+)(?:\.(\d+))?\s*([a-z]*)$/i

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['', 1n],
  ['b', 1n],
  ['kb', 10n ** 3n],
  ['mb', 10n ** 6n],
  ['gb', 10n ** 9n],
  ['tb', 10n ** 12n],
  ['kib', 2n ** 10n],
  ['mib', 2n ** 20n],
  ['gib', 2n ** 30n],
  ['tib', 2n ** 40n],
])

/**
 * Reads a size as people write it in settings and commands: `1048576`, `500MB` (powers of 1000),
 * `5GiB` (powers of 1024), `1.5GiB`. 0 is allowed. Throws `invalid_parameter` for anything else,
 * for a fraction of a byte, and above 2^53 - 1.
 */
export function parseByteSize(text: string): number {
  const [, whole, fraction = '', unit = ''] = SIZE.exec(text.trim()) ?? []
  const scale = UNITS.get(unit.toLowerCase())
  if (whole !== undefined && scale !== undefined) {
    // Not floating point, in which 1.005 * 1000 is no whole number.
    const scaled = BigInt(whole + fraction) * scale
    const divisor = 10n ** BigInt(fraction.length)
    const bytes = Number(scaled / divisor)
    if (scaled % divisor === 0n && isByteSize(bytes)) return bytes
  }
  throw new AppError(
    'invalid_parameter',
    `"${text}" is no size: write whole bytes, or a number with KB, MB, GB, TB, KiB, MiB, GiB or TiB.`,
  )
}

/** Whether `value` is a whole number of bytes from 0 to 2^53 - 1. */
export function isByteSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
