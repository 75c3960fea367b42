import { availableParallelism } from 'node:os'
import type { DatabaseConfig } from './parsers.ts'

interface Shared {
  readonly database: DatabaseConfig
  readonly objectStore: { readonly kind: 'file' | 's3' }
  readonly uploadMemory: number
}

/**
 * The number of processes that share one instance's settings. `auto`: one for each CPU that the instance may use, as
 * far as `UPLOAD_MEMORY` suffices with `minMemory` bytes for each. Embedded data always has one process.
 */
export function countWorkers(
  setting: number | 'auto',
  { minMemory, ...shared }: Shared & { readonly minMemory: number },
): number {
  if (setting !== 'auto') return setting
  if (!canShare(shared)) return 1
  return Math.max(1, Math.min(availableParallelism(), Math.floor(shared.uploadMemory / minMemory)))
}

/** One process keeps SQLite and local files exact and fast: other processes would wait for its locks. */
export function canShare({ database, objectStore }: Omit<Shared, 'uploadMemory'>): boolean {
  return database.kind === 'postgres' && objectStore.kind === 's3'
}

interface Divided extends Shared {
  readonly workers: number
  readonly maxDownloads: number
  readonly maxDownloadsPerUser: number
}

/**
 * The settings of one worker. Together, the workers stay within the instance's `uploadMemory`. Its limits of downloads
 * can be exceeded by less than one download for each worker.
 */
export function shareOfWorker<C extends Divided>(config: C): C {
  const { workers, database } = config
  return {
    ...config,
    uploadMemory: Math.floor(config.uploadMemory / workers),
    // Rounded up, since each worker needs at least one.
    maxDownloads: Math.ceil(config.maxDownloads / workers),
    maxDownloadsPerUser: Math.ceil(config.maxDownloadsPerUser / workers),
    database: { ...database, poolSize: poolSizeOf(workers) },
  }
}

/** PostgreSQL accepts 100 connections by default, also from other instances and during a rolling restart. */
function poolSizeOf(workers: number): number {
  return Math.max(MIN_CONNECTIONS, Math.min(MAX_CONNECTIONS, Math.floor(ALL_CONNECTIONS / workers)))
}

const ALL_CONNECTIONS = 40
const MAX_CONNECTIONS = 10
const MIN_CONNECTIONS = 4
