import type { Fare } from './good-client.ts'
import { ALL, type HostileFigures, MOST_RESIDENT, type Round } from './run.ts'

/**
 * Maximum ratio of a request's 99th percentile beside a crowd to that alone. All crowds at once take every core that a
 * process can use, so beside them a request only has to be answered.
 */
export const MOST_TIMES_SLOWER = 3

/** The faults of a run; none if the crowd did no harm. */
export function faultsOf({ rounds, resident }: HostileFigures): readonly string[] {
  const errors = rounds.flatMap(({ alone, beside }) => [...alone.errors, ...beside.errors])
  const slow = [...slowdowns(rounds)].flatMap(([name, ratio]) =>
    name === ALL || ratio <= MOST_TIMES_SLOWER
      ? []
      : [`p99 beside ${name} is ${ratio.toFixed(1)} times p99 alone`],
  )
  return [
    ...errors,
    ...slow,
    ...(resident.peak <= MOST_RESIDENT
      ? []
      : [`${resident.peak} bytes of resident memory exceed ${MOST_RESIDENT}`]),
  ]
}

/** For each crowd, the median ratio of the 99th percentile beside it to that alone. */
export function slowdowns(rounds: readonly Round[]): ReadonlyMap<string, number> {
  const ofEach = Map.groupBy(rounds, ({ name }) => name)
  return new Map(
    [...ofEach].map(([name, own]) => {
      const ratios = own.map(({ alone, beside }) => p99(beside) / p99(alone))
      return [name, percentile(ratios, 0.5)]
    }),
  )
}

export function p99({ latencies }: Fare): number {
  return percentile(latencies, 0.99)
}

export function p50({ latencies }: Fare): number {
  return percentile(latencies, 0.5)
}

/** `NaN` if there are no values, so that no bound holds. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
