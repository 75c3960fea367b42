import { Gauge, type Registry } from '@prometheus-io/client'
import type { UploadMemory } from '../core/uploads/memory/budget.ts'

/** A pool of connections at one moment. */
export interface ConnectionCounts {
  readonly limit: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export interface SaturationOptions {
  readonly registry: Registry
  readonly memory: Pick<UploadMemory, 'usage'>
  /** `undefined` where the database has no pool. */
  readonly connections: (() => ConnectionCounts) | undefined
}

/** Shows what is limited and how much of it is taken, read at the moment of a scrape. */
export function createSaturationMetrics({
  registry,
  memory,
  connections,
}: SaturationOptions): void {
  const gauge = (name: string, { help, read }: { help: string; read: () => number }): Gauge =>
    new Gauge({
      name: `cloud_repository_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('upload_memory_limit_bytes', {
    help: 'What uploads of this instance may hold in memory.',
    read: () => memory.usage().budget,
  })
  gauge('upload_memory_taken_bytes', {
    help: 'What of it uploads have taken.',
    read: () => memory.usage().taken,
  })
  gauge('upload_memory_waiting', {
    help: 'Uploads that wait for memory.',
    read: () => memory.usage().waiting,
  })
  if (connections === undefined) return
  gauge('database_connections_limit', {
    help: 'Connections to the database that this instance may have.',
    read: () => connections().limit,
  })
  gauge('database_connections_waiting', {
    help: 'Calls that wait for a connection to the database.',
    read: () => connections().waiting,
  })
  gauge('database_connections_open', {
    help: 'Connections to the database that are open.',
    read: () => connections().open,
  })
  gauge('database_connections_used', {
    help: 'Those of them that are in use.',
    read: () => connections().open - connections().idle,
  })
}
