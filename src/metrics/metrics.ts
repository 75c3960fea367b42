import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client'
import type { Readiness } from '../core/readiness.ts'
import type { Repository } from '../core/files/repository.ts'
import type { Sweeper } from '../core/sweep/sweeper.ts'
import type { ResumableUploads } from '../core/uploads/resumable/resumable-uploads.ts'
import { createAppendMetrics, type UploadHooks } from './appends.ts'
import { createStoredBytes, meterRepository } from './call-meters.ts'
import { type BacklogOptions, createBacklogMetrics, createDependencyMetrics } from './scrape.ts'
import { createRequestMetrics, type ListenerName, type RequestMeter } from './requests.ts'
import { createSaturationMetrics, type SaturationOptions } from './saturation.ts'
import { meterSweeper } from './sweeps.ts'

export interface Metrics {
  readonly contentType: string
  /** Omits metrics that a dependency does not supply in time. */
  expose(): Promise<string>
  /** Adds version and process metrics, such as event loop delays. Idempotent. */
  watchProcess(build: BuildInfo): void
  meterSweeper(sweeper: Sweeper): Sweeper
  meterRepository(repository: Repository): Repository
  /** Options of `createResumableUploads`. */
  readonly uploadHooks: UploadHooks
  meterUploads(uploads: ResumableUploads): ResumableUploads
  meterRequests(listener: ListenerName): RequestMeter
}

export interface BuildInfo {
  readonly version: string
}

export interface MetricsOptions
  extends Omit<BacklogOptions, 'registry'>, Omit<SaturationOptions, 'registry'> {
  readonly registry?: Registry
  readonly readiness: Readiness
}

export function createMetrics({ registry = new Registry(), ...options }: MetricsOptions): Metrics {
  const backlog = createBacklogMetrics({ registry, ...options })
  const dependencies = createDependencyMetrics({ registry, ...options })
  createSaturationMetrics({ registry, ...options })
  const requests = createRequestMetrics(registry)
  const storedBytes = createStoredBytes(registry)
  const appends = createAppendMetrics(registry, storedBytes)
  let watchesProcess = false
  return {
    contentType: registry.contentType,
    async expose() {
      await Promise.all([backlog.scrape(), dependencies.scrape()])
      requests.settle()
      return await registry.metrics()
    },
    watchProcess(build) {
      if (watchesProcess) return
      watchesProcess = true
      collectDefaultMetrics({ register: registry })
      exposeBuild(registry, build)
    },
    meterSweeper: (sweeper) => meterSweeper(sweeper, registry),
    meterRepository: (repository) => meterRepository(repository, registry, storedBytes),
    uploadHooks: appends.hooks,
    meterUploads: (uploads) => appends.meter(uploads),
    meterRequests: (listener) => requests.meter(listener),
  }
}

/** Always 1. Queries join other metrics by the label `version`. */
function exposeBuild(registry: Registry, { version }: BuildInfo): void {
  const build = new Gauge({
    name: 'cloud_repository_build_info',
    help: 'Always 1; the label is the version of this instance.',
    labelNames: ['version'],
    registers: [registry],
  })
  build.set({ version }, 1)
}
