import { AppError, isAppError } from '../core/errors.ts'
import { MissingObject } from '../core/files/open-content.ts'
import type { Repository } from '../core/repository.ts'
import type { History } from '../core/history/history.ts'
import type { Instruments } from './instruments.ts'

type Call = (...args: never[]) => Promise<unknown>

export type CallMeter = (method: string, call: Call) => Call

export type CallMeters = ReturnType<typeof createCallMeters>

export function createCallMeters({ database, objectStore }: Instruments) {
  return { database: createCallMeter(database), objectStore: createCallMeter(objectStore) }
}

function createCallMeter({ seconds, errors }: Instruments['database']): CallMeter {
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

export function meterRepository(repository: Repository, instruments: Instruments): Repository {
  const { runningUploads, storedBytes } = instruments
  return {
    ...repository,
    async upload(upload) {
      runningUploads.inc()
      try {
        const committed = await repository.upload(upload)
        storedBytes.inc(committed.file.size)
        return committed
      } finally {
        runningUploads.dec()
      }
    },
    open: countingLosses((file) => repository.open(file), instruments),
  }
}

export function meterHistory(history: History, instruments: Instruments): History {
  return { ...history, open: countingLosses((version) => history.open(version), instruments) }
}

function countingLosses<T, R>(
  open: (wanted: T) => Promise<R>,
  { lostContents }: Instruments,
): (wanted: T) => Promise<R> {
  return async (wanted) => {
    try {
      return await open(wanted)
    } catch (error) {
      if (isLoss(error)) lostContents.inc()
      throw error
    }
  }
}

/** The object's size differs from its row, or the store keeps reporting it missing. */
function isLoss(error: unknown): boolean {
  if (!isAppError(error)) return false
  return error.code === 'internal_error' || error.cause instanceof MissingObject
}
