import type { ErrorCode } from './error-codes.ts'

/** The dependencies that uploads and downloads need. */
export type Dependency = 'database' | 'object_store'

export interface AppErrorOptions {
  /** Logged, never shown to a client. */
  readonly cause?: unknown
  /** Extra members of the problem document: snake_case unless a standard names them; may replace `type` and `title`. */
  readonly facts?: Readonly<Record<string, number | string>>
  /** The dependency that failed, for `unavailable`; logged, never shown to a client. */
  readonly dependency?: Dependency | undefined
  /** The dependency can be read but not written, because its disk is full. */
  readonly isFull?: boolean
  /** The failure was logged where it happened, once for all requests that it fails. */
  readonly isLogged?: boolean
}

/**
 * The only error that `core` and adapters throw on purpose. Any other error is a defect and is answered with
 * `internal_error`.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, number | string>>
  readonly dependency: Dependency | undefined
  readonly isFull: boolean
  readonly isLogged: boolean

  /** `detail` is a sentence for the client, without secrets, file names or internals. */
  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(detail, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.facts = options.facts ?? {}
    this.dependency = options.dependency
    this.isFull = options.isFull ?? false
    this.isLogged = options.isLogged ?? false
  }
}

export function formatError(detail: string, cause?: unknown): AppError {
  return new AppError('format_error', detail, { cause })
}

export function busy(detail: string): AppError {
  return new AppError('unavailable', `The service is busy. ${detail}`)
}

/** Asks the client to wait: whole seconds, at least one. */
export function tooManyRequests(detail: string, waitMs: number): AppError {
  const retry_after = Math.max(1, Math.ceil(waitMs / 1000))
  return new AppError('too_many_requests', detail, { facts: { retry_after } })
}

/** The refusal of a parameter, header or member, which it names. */
export function invalidParameter(parameter: string, detail: string, cause?: unknown): AppError {
  return new AppError('invalid_parameter', detail, { cause, facts: { parameter } })
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code)
}

export function isDatabaseFull(error: unknown): boolean {
  return error instanceof AppError && error.dependency === 'database' && error.isFull
}
