import { AppError } from './errors.ts'

/** The largest integer that JSON carries exactly. */
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

/** Units are powers of 1000 (`MB`) or 1024 (`MiB`). Throws `invalid_parameter`, also for a fraction of a byte. */
export function parseByteSize(text: string): number {
  const [, whole, fraction = '', unit = ''] = SIZE.exec(text.trim()) ?? []
  const scale = UNITS.get(unit.toLowerCase())
  if (whole !== undefined && scale !== undefined) {
    // BigInt, because 1.005 * 1000 is not whole in floating point.
    const scaled = BigInt(whole + fraction) * scale
    const divisor = 10n ** BigInt(fraction.length)
    const bytes = Number(scaled / divisor)
    if (scaled % divisor === 0n && isByteSize(bytes)) return bytes
  }
  throw new AppError(
    'invalid_parameter',
    `"${text}" is not a size. Use a whole number of bytes, or a number with KB, MB, GB, TB, KiB, MiB, GiB or TiB.`,
  )
}

/** For people: in the unit that gives a number below 1024, rounded to two decimals, such as `1.5 GiB`. */
export function formatByteSize(bytes: number): string {
  const exponent = BINARY_UNITS.findIndex((_, at) => rounded(bytes, at) < 1024)
  return `${rounded(bytes, exponent)} ${BINARY_UNITS[exponent]}`
}

const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

function rounded(bytes: number, exponent: number): number {
  return Math.round((bytes / 1024 ** exponent) * 100) / 100
}

export function isByteSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
