import { collectDefaultMetrics, Registry } from '@prometheus-io/client'

/** The metrics of one process at one time. Can be sent to another process. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/**
 * Exposes the metrics of several processes as those of one: as their sum, or by the `aggregator` of the metric.
 * Counters never decrease: when a process ends, its last snapshot remains in the sums.
 */
export class AggregatedMetrics {
  readonly #latest = new Map<number, Snapshot>()
  #ended: readonly Snapshot[] = []

  set(process: number, snapshot: Snapshot): void {
    this.#latest.set(process, snapshot)
  }

  end(process: number): void {
    const counts = this.#latest.get(process)?.filter(({ type }) => CUMULATIVE.has(type)) ?? []
    this.#latest.delete(process)
    this.#ended = [...this.#ended, counts]
  }

  async expose(): Promise<string> {
    const ended = this.#ended
    const sum = await Registry.aggregate([...ended]).getMetricsAsJSON()
    if (this.#ended === ended) this.#ended = [sum]
    const snapshots = [...this.#latest.values(), ...this.#ended]
    return await Registry.aggregate(snapshots.map((metrics) => metrics.map(addable))).metrics()
  }
}

const CUMULATIVE: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary'])

function addable(metric: Snapshot[number]): Snapshot[number] {
  const { name, type, values } = metric
  // Its sum and its count have names of their own. Quantiles cannot be added.
  if (type === 'summary') {
    return { ...metric, values: values.filter((value) => 'metricName' in value) }
  }
  // The client averages delays, which hides one blocked process, and omits the start.
  const showsWorst = name === 'process_start_time_seconds' || metric.aggregator === 'average'
  return showsWorst ? { ...metric, aggregator: 'max' } : metric
}

/** Measures this process, which serves no requests: its CPU time, memory and files. */
export function createProcessMetrics(): () => Promise<Snapshot> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return async () => {
    const metrics = await registry.getMetricsAsJSON()
    return metrics.filter(({ name }) => name.startsWith('process_'))
  }
}
