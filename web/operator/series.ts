import type { Sample } from './metrics-text.ts'

/** A value at a time, in milliseconds. */
export interface Point {
  readonly at: number
  readonly value: number
}

/** How fast a count has grown, in so many milliseconds. A service that was started anew counts from 0. */
export function rates(
  samples: readonly Sample[],
  { read, per }: { readonly read: (sample: Sample) => number; readonly per: number },
): readonly Point[] {
  const points: Point[] = []
  for (const [at, sample] of samples.entries()) {
    const before = samples[at - 1]
    if (before === undefined) continue
    const grown = Math.max(0, read(sample) - read(before))
    points.push({ at: sample.at, value: (grown / (sample.at - before.at)) * per })
  }
  return points
}

/**
 * By how much a count has grown in the last so many milliseconds, at each moment, as far as it was seen. What has grown
 * between two samples counts by the share of that time.
 */
export function growths(
  samples: readonly Sample[],
  { read, within }: { readonly read: (sample: Sample) => number; readonly within: number },
): readonly Point[] {
  const steps = rates(samples, { read, per: 1 }).map(({ at, value }, index) => ({
    from: samples[index]?.at ?? at,
    to: at,
    perMs: value,
  }))
  return steps.map(({ to: at }, index) => {
    const grown = steps
      .slice(0, index + 1)
      .map(({ from, to, perMs }) => perMs * Math.max(0, to - Math.max(from, at - within)))
    return { at, value: Math.round(grown.reduce((total, share) => total + share, 0)) }
  })
}
