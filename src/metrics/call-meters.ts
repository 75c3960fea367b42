import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { AppError, isAppError } from '../core/errors.ts'
import { MissingObject, type Repository } from '../core/files/repository.ts'

type Call = (...args: never[]) => Promise<unknown>

export type CallMeter = (method: string, call: Call) => Call

export interface CallMeters {
  readonly registry: Registry
  readonly database: CallMeter
  readonly objectStore: CallMeter
}

export function createCallMeters(registry: Registry = new Registry()): CallMeters {
  return {
    registry,
    database: createCallMeter(registry, 'database'),
    objectStore: createCallMeter(registry, 'object_store'),
  }
}

const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

function createCallMeter(registry: Registry, of: 'database' | 'object_store'): CallMeter {
  const help = of.replace('_', ' ')
  const common = { labelNames: ['operation'], registers: [registry] }
  const seconds = new Histogram({
    name: `cloud_repository_${of}_call_seconds`,
    help: `Duration of calls to the ${help} by operation.`,
    buckets: BUCKETS,
    ...common,
  })
  const errors = new Counter({
    name: `cloud_repository_${of}_errors_total`,
    help: `Calls to the ${help} that failed or timed out. Refusals are not errors.`,
    ...common,
  })
  return (method, call) => {
    const operation = method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return async (...args) => {
      const began = performance.now()
      try {
        return await call(...args)
      } catch (error) {
        if (isFailure(error) && !hasGivenUp(args[0])) errors.inc({ operation })
        throw error
      } finally {
        seconds.observe({ operation }, (performance.now() - began) / 1000)
      }
    }
  }
}

/** Whether the dependency itself failed. `unavailable` without a cause, such as a lost upload, does not count. */
function isFailure(error: unknown): boolean {
  if (isAppError(error, 'unavailable')) return error.cause !== undefined
  return !(error instanceof AppError)
}

/** Whether the caller aborted, rather than a timeout. */
function hasGivenUp(request: unknown): boolean {
  if (typeof request !== 'object' || request === null || !('signal' in request)) return false
  const { signal } = request
  return signal instanceof AbortSignal && signal.aborted && !isTimeout(signal.reason)
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}

/** For uploads of one request and resumable uploads. */
export function createStoredBytes(registry: Registry): Counter {
  return new Counter({
    name: 'cloud_repository_uploaded_bytes_total',
    help: 'Bytes of the files that uploads have stored.',
    registers: [registry],
  })
}

export function meterRepository(
  repository: Repository,
  registry: Registry,
  storedBytes: Counter,
): Repository {
  const registers = [registry]
  const running = new Gauge({
    name: 'cloud_repository_uploads_running',
    help: 'Uploads in progress on this instance, including those that wait for memory.',
    registers,
  })
  const lost = new Counter({
    name: 'cloud_repository_lost_contents_total',
    help: 'Downloads whose object remains missing or has the wrong size: data is lost, or the store is incomplete.',
    registers,
  })
  return {
    ...repository,
    async upload(upload) {
      running.inc()
      try {
        const committed = await repository.upload(upload)
        storedBytes.inc(committed.file.size)
        return committed
      } finally {
        running.dec()
      }
    },
    async open(file) {
      try {
        return await repository.open(file)
      } catch (error) {
        if (isLoss(error)) lost.inc()
        throw error
      }
    },
  }
}

/** The object's size differs from its row, or the store keeps reporting it missing. */
function isLoss(error: unknown): boolean {
  if (!isAppError(error)) return false
  return error.code === 'internal_error' || error.cause instanceof MissingObject
}
