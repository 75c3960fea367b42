/**
 * How often a link was used. A use is the whole size of a file, so a part of the file is a fraction of a use, in units of
 * `1 / USE_UNITS`.
 */
export interface Uses {
  readonly whole: number
  /** Less than `USE_UNITS`. */
  readonly fraction: number
}

/** In one use: two fractions and their sum stay exact integers. */
export const USE_UNITS = 2 ** 50

/**
 * Units by which the uses of a link may exceed their maximum: each range is rounded up by less than one, and the ranges
 * of a file must fit in one use. It is less than a byte of a file of 1 GiB.
 */
export const ROUNDING_UNITS = 2 ** 20

export const ONE_USE: Uses = { whole: 1, fraction: 0 }

/** The uses that sending the bytes counts as, rounded up; the content of an empty file is one. */
export function usesOf(bytes: number, size: number): Uses {
  if (bytes >= size) return ONE_USE
  return asUses((units(bytes) + BigInt(size) - 1n) / BigInt(size))
}

/** What is given back of `usesOf(bytes, size)` if the last bytes were not sent: never more than they have counted. */
export function usesUnsent(unsent: number, size: number): Uses {
  if (size === 0) return { whole: 0, fraction: 0 }
  return asUses(units(unsent) / BigInt(size))
}

function units(bytes: number): bigint {
  return BigInt(bytes) * BigInt(USE_UNITS)
}

function asUses(all: bigint): Uses {
  const use = BigInt(USE_UNITS)
  return { whole: Number(all / use), fraction: Number(all % use) }
}
