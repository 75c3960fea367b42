/** The closed list of a problem's `code`s (docs/api.md). `http/server/problem.ts` maps each to a status. */
export const ERROR_CODES = [
  'format_error',
  'missing_file_part',
  'multiple_file_parts',
  'truncated_body',
  'invalid_file_name',
  'invalid_parameter',
  'digest_mismatch',
  'access_token_missing',
  'access_token_invalid',
  'capacity_exceeded',
  'file_count_exceeded',
  'user_suspended',
  'cross_site_request',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'file_exists',
  'user_exists',
  'precondition_failed',
  'file_too_large',
  'request_head_too_large',
  'range_not_satisfiable',
  'tus_version_unsupported',
  'unsupported_media_type',
  'offset_mismatch',
  'upload_gone',
  'upload_length_exceeded',
  'upload_busy',
  'checksum_mismatch',
  'unfinished_uploads_exceeded',
  'too_many_requests',
  'unauthorized',
  'internal_error',
  'unavailable',
  'insufficient_storage',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** The dependencies that uploads and downloads need. */
export type Dependency = 'database' | 'object_store'

export interface AppErrorOptions {
  /** Logged, never shown to a client. */
  readonly cause?: unknown
  /** Extra members of the problem document: snake_case unless a standard names them; may replace `type` and `title`. */
  readonly facts?: Readonly<Record<string, number | string>>
  /** The part that failed, for `unavailable`; logged, never shown to a client. */
  readonly dependency?: Dependency
  /** The part can be read but not written, because its disk is full. */
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
