/**
 * The closed list of what can go wrong, as clients see it in the member `code` of a problem
 * document (docs/api.md). A code names one cause; `http/server/problem.ts` gives each its status.
 */
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
  'too_many_requests',
  'unauthorized',
  'internal_error',
  'unavailable',
  'insufficient_storage',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** What neither uploads nor downloads work without. */
export type Dependency = 'database' | 'object_store'

export interface AppErrorOptions {
  /** What an adapter or a library threw; logged, never shown to a client. */
  readonly cause?: unknown
  /** Further members of the problem document, in its snake_case, for example `capacity` in bytes. */
  readonly facts?: Readonly<Record<string, number | string>>
  /** Which part failed, for `unavailable`; logged, never shown to a client. */
  readonly part?: Dependency
  /** Whether the part can be read but not written, because its disk is full. */
  readonly isFull?: boolean
}

/**
 * The only error that core and its adapters throw on purpose. Anything else that reaches the edge is
 * a defect and is answered with `internal_error`.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, number | string>>
  readonly part: Dependency | undefined
  readonly isFull: boolean

  /** `detail` is a sentence for the client; it names no secret, no file name and no internals. */
  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(detail, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.facts = options.facts ?? {}
    this.part = options.part
    this.isFull = options.isFull ?? false
  }
}

/** What an error says, or in words whatever else was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whether `error` is an `AppError`, with that code when one is given. */
export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code)
}

/** Whether `error` says that the database can be read but not written, because its disk is full. */
export function isDatabaseFull(error: unknown): boolean {
  return error instanceof AppError && error.part === 'database' && error.isFull
}
