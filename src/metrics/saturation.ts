import { Gauge, type Registry } from '@prometheus-io/client'
import type { UploadMemory } from '../core/memory/upload-memory.ts'

export interface ConnectionCounts {
  readonly limit: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export interface SaturationOptions {
  readonly registry: Registry
  readonly memory: Pick<UploadMemory, 'usage'>
  /** `undefined` if the database has no pool. */
  readonly connections: (() => ConnectionCounts) | undefined
}

export function createSaturationMetrics({
  registry,
  memory,
  connections,
}: SaturationOptions): void {
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name: `cloud_repository_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  const memoryHelp = 'Memory that uploads of this instance may use.'
  gauge('upload_memory_limit_bytes', memoryHelp, () => memory.usage().budget)
  gauge(
    'upload_memory_taken_bytes',
    'Memory that uploads of this instance use.',
    () => memory.usage().taken,
  )
  gauge('upload_memory_waiting', 'Uploads that wait for memory.', () => memory.usage().waiting)
  if (connections === undefined) return
  const limitHelp = 'Maximum number of database connections of this instance.'
  gauge('database_connections_limit', limitHelp, () => connections().limit)
  const waitingHelp = 'Calls that wait for a database connection.'
  gauge('database_connections_waiting', waitingHelp, () => connections().waiting)
  const openHelp = 'Open database connections.'
  gauge('database_connections_open', openHelp, () => connections().open)
  const inUse = () => connections().open - connections().idle
  gauge('database_connections_used', 'Database connections in use.', inUse)
}
