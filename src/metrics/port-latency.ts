import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import { AppError, isAppError } from '../core/errors.ts'
import type { ObjectStore } from '../core/objects/object-store.ts'

/** Counts and times the calls of a port. */
export interface CallMeter {
  /** Resolves or rejects as `call` does. `signal` is the caller's own, which is no failure of the port. */
  readonly time: <T>(operation: string, call: () => Promise<T>, signal?: AbortSignal) => Promise<T>
}

export interface CallMeterOptions {
  readonly registry: Registry
  /** What is called, as the names of the metrics have it. */
  readonly of: 'object_store' | 'database'
  readonly help: string
}

/** From a read of the embedded database to the longest deadline. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createCallMeter({ registry, of, help }: CallMeterOptions): CallMeter {
  const common = { labelNames: ['operation'], registers: [registry] }
  const seconds = new Histogram({
    name: `cloud_repository_${of}_call_seconds`,
    help: `Calls of the ${help}, by what was asked for.`,
    buckets: BUCKETS,
    ...common,
  })
  const errors = new Counter({
    name: `cloud_repository_${of}_errors_total`,
    help: `Calls that the ${help} failed, or did not answer in time. Refusals are none.`,
    ...common,
  })
  return {
    async time(operation, call, signal) {
      const began = performance.now()
      try {
        return await call()
      } catch (error) {
        if (isFailure(error) && !hasGivenUp(signal)) errors.inc({ operation })
        throw error
      } finally {
        seconds.observe({ operation }, (performance.now() - began) / 1000)
      }
    },
  }
}

/** Of the part itself: what is only `unavailable`, such as an upload that was lost, has no cause. */
function isFailure(error: unknown): boolean {
  if (isAppError(error, 'unavailable')) return error.cause !== undefined
  return !(error instanceof AppError)
}

/** Whether the caller went away, and did not just run out of patience. */
function hasGivenUp(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && !isTimeout(signal.reason)
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}

/** The same object store, whose calls are timed; but for `list`, which goes on for as long as its reader likes. */
export function meterObjectStore(store: ObjectStore, { time }: CallMeter): ObjectStore {
  return {
    put: (object) => time('put', () => store.put(object), object.signal),
    open: (object) => time('open', () => store.open(object), object.signal),
    head: (object) => time('head', () => store.head(object), object.signal),
    remove: (object) => time('remove', () => store.remove(object), object.signal),
    list: (options) => store.list(options),
    prepare: (signal) => time('prepare', () => store.prepare(signal), signal),
    check: (signal) => time('check', () => store.check(signal), signal),
    close: () => store.close(),
  }
}

type Call = (...args: never[]) => Promise<unknown>

/** The same port of the database, of which every method is a call. */
export function meterPort<T extends object>(port: T, { time }: CallMeter): T {
  const metered = Object.entries(port as Record<string, Call>).map(([name, call]) => {
    const operation = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return [name, (...args: never[]) => time(operation, () => call(...args))]
  })
  return Object.fromEntries(metered) as T
}
