import { Counter, Gauge, Histogram, Registry, Summary } from '@prometheus-io/client'
import { describe, expect, it } from 'vitest'
import { AggregatedMetrics, createProcessMetrics } from '../../src/metrics/aggregated-metrics.ts'
import { createCallMeters } from '../../src/metrics/call-meters.ts'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { parseMetrics, sampleOf } from '../support/http/metrics-text.ts'
import { openTestCore } from '../support/service/test-core.ts'
import { ampleMemory } from '../support/upload-memory.ts'

/** A process with one metric of each type. */
function createProcess() {
  const registry = new Registry()
  const common = { help: 'help', registers: [registry] }
  const metrics = {
    requests: new Counter({ name: 'requests', labelNames: ['status'], ...common }),
    running: new Gauge({ name: 'running', ...common }),
    oldest: new Gauge({ name: 'oldest', aggregator: 'max', ...common }),
    delay: new Gauge({ name: 'delay', aggregator: 'average', ...common }),
    start: new Gauge({ name: 'process_start_time_seconds', aggregator: 'omit', ...common }),
    seconds: new Histogram({ name: 'seconds', buckets: [1], ...common }),
    sizes: new Summary({ name: 'sizes', percentiles: [0.5], ...common }),
  }
  return { ...metrics, snapshot: () => registry.getMetricsAsJSON() }
}

describe('AggregatedMetrics', () => {
  it('adds what can be added, and takes the worst of the rest', async () => {
    const all = new AggregatedMetrics()
    for (const [number, size] of [2, 3].entries()) {
      const one = createProcess()
      one.requests.inc({ status: 200 }, size)
      one.requests.inc({ status: 500 + number })
      one.running.set(size)
      one.oldest.set(size)
      one.delay.set(size)
      one.start.set(size)
      one.seconds.observe(size / 2)
      one.sizes.observe(size)
      all.set(number, await one.snapshot())
    }
    const text = await all.expose()
    const samples = {
      'requests{status="200"}': 5,
      'requests{status="500"}': 1,
      'requests{status="501"}': 1,
      running: 5,
      oldest: 3,
      delay: 3,
      process_start_time_seconds: 3,
      'seconds_bucket{le="1"}': 1,
      'seconds_bucket{le="+Inf"}': 2,
      seconds_sum: 2.5,
      sizes_count: 2,
      sizes_sum: 5,
    }
    for (const [name, value] of Object.entries(samples))
      expect([name, sampleOf(text, name)]).toEqual([name, value])
    expect(text).not.toContain('quantile')
  })

  it('keeps the counts, and only those, of processes that have ended', async () => {
    const all = new AggregatedMetrics()
    for (const number of [1, 2, 3]) {
      const one = createProcess()
      one.requests.inc({ status: 200 }, number)
      one.running.set(number)
      one.seconds.observe(0.5)
      one.sizes.observe(number)
      all.set(number, await one.snapshot())
    }
    all.end(1)
    const exposed = all.expose()
    // While it is being exposed.
    all.end(2)
    const [during, after] = [await exposed, await all.expose()]
    for (const text of [during, after, await all.expose()]) {
      expect(sampleOf(text, 'requests{status="200"}')).toBe(6)
      expect(sampleOf(text, 'seconds_count')).toBe(3)
      expect(sampleOf(text, 'sizes_count')).toBe(3)
      expect(sampleOf(text, 'sizes_sum')).toBe(6)
      expect(text).not.toContain('quantile')
    }
    expect(sampleOf(after, 'running')).toBe(3)
    all.end(4)
    expect(await all.expose()).toBe(after)
  })

  it('has every metric of a process but for its quantiles, and of the primary its CPU time and memory', async () => {
    await using core = await openTestCore()
    const metrics = createMetrics({
      registry: createCallMeters().registry,
      ledger: core.ledger,
      readiness: { failures: async () => new Map() },
      memory: ampleMemory(),
      connections: () => ({ limit: 10, open: 2, idle: 1, waiting: 0 }),
    })
    metrics.watchProcess({ version: '1.2.3' })
    const all = new AggregatedMetrics()
    all.set(0, await createProcessMetrics()())
    all.set(1, await metrics.takeSnapshot({ readsBacklog: true }))
    all.set(2, await metrics.takeSnapshot({ readsBacklog: false }))
    const text = await all.expose()
    const names = parseMetrics(await metrics.expose()).map(({ name }) => name)
    expect(
      parseMetrics(text)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names.toSorted())
    expect(sampleOf(text, 'cloud_repository_build_info{version="1.2.3"}')).toBe(1)
    expect(sampleOf(text, 'cloud_repository_part_up{part="database"}')).toBe(1)
    expect(sampleOf(text, 'cloud_repository_database_connections_limit')).toBe(20)
    expect(sampleOf(text, 'cloud_repository_sweep_backlog{of="garbage"}')).toBe(0)
    const { rss } = process.memoryUsage()
    expect(sampleOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(2 * rss)
  })

  it('reads the backlog of one process alone, and never takes its absence for 0', async () => {
    await using core = await openTestCore()
    const metrics = createMetrics({
      ledger: core.ledger,
      readiness: { failures: async () => new Map([['database' as const, new Error('down')]]) },
      memory: ampleMemory(),
      connections: undefined,
    })
    const all = new AggregatedMetrics()
    all.set(1, await metrics.takeSnapshot({ readsBacklog: false }))
    const text = await all.expose()
    expect(sampleOf(text, 'cloud_repository_garbage_objects')).toBe(undefined)
    expect(sampleOf(text, 'cloud_repository_part_up{part="database"}')).toBe(0)
    all.set(2, await metrics.takeSnapshot({ readsBacklog: true }))
    expect(sampleOf(await all.expose(), 'cloud_repository_garbage_objects')).toBe(0)
  })
})
