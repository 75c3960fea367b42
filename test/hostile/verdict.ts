import type { Fare } from './good-client.ts'
import { ALL, type HostileFigures, MOST_RESIDENT, type Round } from './run.ts'

/**
 * How many times as long as alone a request may take beside a crowd, at the 99th percentile. All crowds at once take every
 * core that a process can use, so that beside them a request only has to be answered.
 */
export const MOST_TIMES_SLOWER = 3

/** What is wrong with a run; nothing, when the crowd has hurt nobody. */
export function faultsOf({ rounds, resident }: HostileFigures): readonly string[] {
  const errors = rounds.flatMap(({ alone, beside }) => [...alone.errors, ...beside.errors])
  const slow = [...slowdowns(rounds)].flatMap(([name, ratio]) =>
    name === ALL || ratio <= MOST_TIMES_SLOWER
      ? []
      : [`p99 beside ${name} is ${ratio.toFixed(1)} times that alone`],
  )
  return [
    ...errors,
    ...slow,
    ...(resident.peak <= MOST_RESIDENT ? [] : [`${resident.peak} bytes resident`]),
  ]
}

/** For each crowd by how many times the 99th percentile of the latencies is larger beside it: the median of the rounds. */
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

/** Not a number when there are no values, so that no bound holds. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
