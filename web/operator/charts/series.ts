import type { Sample } from './metrics-text.ts'

/** A value at a time in milliseconds. */
export interface Point {
  readonly at: number
  readonly value: number
}

/** A gauge over time, without the samples that lack it. */
export function levels(
  samples: readonly Sample[],
  read: (sample: Sample) => number | undefined,
): readonly Point[] {
  return samples.flatMap((sample) => {
    const value = read(sample)
    return value === undefined ? [] : [{ at: sample.at, value }]
  })
}

/** Growth of a counter per `per` milliseconds. */
export function rates(
  samples: readonly Sample[],
  { read, per }: { readonly read: (sample: Sample) => number; readonly per: number },
): readonly Point[] {
  return steps(samples, read).map(({ from, to, count }) => ({
    at: to,
    value: (count / (to - from)) * per,
  }))
}

/**
 * Growth of a counter over the last `within` milliseconds, for each sample. Growth between two samples counts in
 * proportion to the part of its interval that lies within.
 */
export function growths(
  samples: readonly Sample[],
  { read, within }: { readonly read: (sample: Sample) => number; readonly within: number },
): readonly Point[] {
  const all = steps(samples, read)
  return all.map(({ to: at }, index) => {
    const shares = all
      .slice(0, index + 1)
      .map(
        ({ from, to, count }) =>
          count * (Math.max(0, to - Math.max(from, at - within)) / (to - from)),
      )
    return { at, value: Math.round(shares.reduce((total, share) => total + share, 0)) }
  })
}

/** Total growth of a counter. */
export function growth(samples: readonly Sample[], read: (sample: Sample) => number): number {
  return steps(samples, read).reduce((total, { count }) => total + count, 0)
}

/** Growth of a counter between two samples. */
interface Step {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** A restart of the service resets its counters to 0. */
function steps(samples: readonly Sample[], read: (sample: Sample) => number): readonly Step[] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index]
    if (before === undefined) return []
    const count = Math.max(0, read(sample) - read(before))
    return { from: before.at, to: sample.at, count }
  })
}
