import type { Sample } from './metrics-text.ts'

/** A value at a time, in milliseconds. */
export interface Point {
  readonly at: number
  readonly value: number
}

/** How fast a count has grown, in so many milliseconds. */
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
 * By how much a count has grown in the last so many milliseconds, at each moment, as far as it was seen. What has grown
 * between two samples counts by the share of that time.
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

/** By how much a count has grown in all. */
export function growth(samples: readonly Sample[], read: (sample: Sample) => number): number {
  return steps(samples, read).reduce((total, { count }) => total + count, 0)
}

/** By how much a count has grown from one sample to the next. */
interface Step {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** A service that was started anew counts from 0. */
function steps(samples: readonly Sample[], read: (sample: Sample) => number): readonly Step[] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index]
    if (before === undefined) return []
    const count = Math.max(0, read(sample) - read(before))
    return { from: before.at, to: sample.at, count }
  })
}
