/** The middle one of a series, and its ends. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** Of no values `undefined`; of an even count the mean of the two in the middle. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const [least, most] = [sorted[0], sorted.at(-1)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  const upper = sorted[Math.floor(sorted.length / 2)]
  if (least === undefined || most === undefined) return undefined
  if (lower === undefined || upper === undefined) return undefined
  return { median: (lower + upper) / 2, least, most }
}

/** The least value that so many of a hundred do not exceed. */
export function percentileOf(values: readonly number[], percent: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]
}
