import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'

/** Each makes an instrument of the registry whose name begins with `cloud_repository_`. */
export function createMakers(registry: Registry) {
  const registers = [registry]
  function counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
  ) {
    return new Counter<L>({ name: `cloud_repository_${name}_total`, help, labelNames, registers })
  }
  return {
    counter,
    /** Starts at 0 for each of the label's values. */
    countedBy: <L extends string>(
      name: string,
      help: string,
      { label, values }: { readonly label: L; readonly values: readonly string[] },
    ): Counter<L> => {
      const counted = counter(name, help, [label])
      for (const value of values) counted.labels(value).inc(0)
      return counted
    },
    gauge: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>({ name: `cloud_repository_${name}`, help, labelNames, registers }),
    histogram: <L extends string>(
      name: string,
      help: string,
      { labels, buckets }: { readonly labels: readonly L[]; readonly buckets: readonly number[] },
    ) =>
      new Histogram<L>({
        name: `cloud_repository_${name}`,
        help,
        labelNames: labels,
        buckets: [...buckets],
        registers,
      }),
  }
}
