import { AppError } from './errors.ts'

/** Sizes are whole bytes up to 2^53 - 1, so that JSON carries them exactly. */
export const MAX_BYTES = Number.MAX_SAFE_INTEGER

const SIZE = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
}

/**
 * Reads a size as people write it in settings and commands: `1048576`, `500MB` (powers of 1000),
 * `5GiB` (powers of 1024), `1.5GiB`. 0 is allowed. Throws `invalid_parameter` for anything else,
 * for a fraction of a byte, and above 2^53 - 1.
 */
export function parseByteSize(text: string): number {
  const [, digits, unit] = SIZE.exec(text.trim()) ?? []
  const scale = UNITS[(unit ?? '?').toLowerCase()]
  const bytes = Number(digits) * (scale ?? Number.NaN)
  if (isByteSize(bytes)) return bytes
  throw new AppError(
    'invalid_parameter',
    `"${text}" is no size: write whole bytes, or a number with KB, MB, GB, TB, KiB, MiB, GiB or TiB.`,
  )
}

/** Whether `value` is a whole number of bytes from 0 to 2^53 - 1. */
export function isByteSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
