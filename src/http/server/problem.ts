import { STATUS_CODES } from 'node:http'
import type {
  FastifyError,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
} from 'fastify'
import {
  AppError,
  isAppError,
  type Dependency,
  invalidParameter,
  formatError,
} from '../../core/errors.ts'
import { ERROR_KINDS, type ErrorCode } from '../../core/error-codes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    problem: ErrorCode | null
    /** Facts that the caller may not learn; `undefined` for a request that the router refuses. */
    hiddenFacts: ReadonlySet<string> | null | undefined
    /** For the log only, if the code does not say enough. */
    reason: string | null
    /** Set if known before the request ends. */
    abortedBy: AbortedBy | null
  }
}

/** The cause of an early end: `timeout` is a slow client, `service` a lack of resources. */
export type AbortedBy = 'client' | 'timeout' | 'superseded' | 'shutdown' | Dependency | 'service'

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
  readonly request_id: string
  readonly [fact: string]: number | string
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

const RETRY_AFTER_SECONDS = 5

/**
 * Answers `error` as a problem document. Logs a failure of the service (5xx) with its cause, unless it is logged
 * already. A probe that is refused without a cause was refused by design, for example during a shutdown.
 */
export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = shown(problemOf(error, request.id), request)
  const isLogged = error instanceof AppError && error.isLogged
  if (problem.status >= 500 && !isLogged && clientFault(error) === undefined) {
    const isByDesign = error instanceof AppError && error.cause === undefined
    const { isProbe = false } = request.routeOptions.config
    const level = isProbe && isByDesign ? 'debug' : 'error'
    request.log[level]({ err: error, code: problem.code }, 'request failed')
  }
  request.problem = problem.code
  request.reason = reasonOf(error)
  request.abortedBy = error instanceof AppError ? abortedBy(error) : null
  if (problem.status === 503) void reply.header('retry-after', RETRY_AFTER_SECONDS)
  if (problem.status === 423) void reply.header('retry-after', problem['retry_after'])
  if (problem.status === 429) void reply.header('retry-after', problem['retry_after'])
  if (problem.status === 416) void reply.header('content-range', `bytes */${problem['size']}`)
  return reply
    .code(problem.status)
    .type(PROBLEM_MEDIA_TYPE)
    .header('cache-control', 'no-store')
    .serializer((payload: Problem) => JSON.stringify(payload))
    .send(problem)
}

function shown(problem: Problem, { hiddenFacts, subject }: FastifyRequest): Problem {
  if (hiddenFacts === null || hiddenFacts === undefined) return problem
  // A device may know its own share.
  const isOwn = problem['limit'] === 'device' && problem['device_id'] === subject?.deviceId
  if (isOwn) return problem
  const members = Object.entries(problem).filter(([member]) => !hiddenFacts.has(member))
  return Object.fromEntries(members) as Problem
}

const CLIENT_FAULTS: Readonly<Partial<Record<ErrorCode, AbortedBy>>> = {
  truncated_body: 'client',
  request_timeout: 'timeout',
}

/** Set if the client left or was too slow, also where an adapter or an append reports that as `unavailable`. */
function clientFault(error: unknown): AbortedBy | undefined {
  if (!(error instanceof Error)) return undefined
  return (isAppError(error) ? CLIENT_FAULTS[error.code] : undefined) ?? clientFault(error.cause)
}

/** `null` if the request was refused, or failed by our own defect. */
export function abortedBy({ code, dependency, cause }: AppError): AbortedBy | null {
  if (code === 'unavailable') return dependency ?? clientFault(cause) ?? 'service'
  return CLIENT_FAULTS[code] ?? null
}

/** The verifier's error code and claim. Its message would quote the token, which anybody can write. */
function reasonOf(error: unknown): string | null {
  if (!isAppError(error, 'access_token_invalid')) return null
  const { cause } = error
  if (!(cause instanceof Error && 'code' in cause && typeof cause.code === 'string')) return null
  return 'claim' in cause && typeof cause.claim === 'string'
    ? `${cause.code} (${cause.claim})`
    : cause.code
}

/** Unexpected errors get a fixed sentence, so that nothing internal leaks. */
export function problemOf(error: unknown, requestId: string): Problem {
  const known = appErrorOf(error)
  const status = ERROR_KINDS[known.code].status
  return {
    type: `urn:cloud-repository:problem:${known.code}`,
    title: titleOf(status),
    status,
    detail: known.message,
    code: known.code,
    request_id: requestId,
    ...known.facts,
  }
}

export function pathNotFound(): AppError {
  return new AppError('not_found', 'This path does not exist.')
}

/** Statuses without a reason phrase in HTTP. */
const TITLES: Readonly<Record<number, string>> = { 460: 'Checksum Mismatch' }

/** The reason phrase of a status. */
export function titleOf(status: number): string {
  return STATUS_CODES[status] ?? TITLES[status] ?? 'Error'
}

/** An error that a route has thrown, or Fastify. */
export function appErrorOf(error: unknown): AppError {
  return error instanceof AppError ? error : translate(error)
}

/** Fastify marks client errors by `statusCode` and names the fault by `code`. */
function translate(cause: unknown): AppError {
  const { code = '', statusCode } = (cause instanceof Error ? cause : {}) as Partial<FastifyError>
  if (code === 'FST_ERR_VALIDATION') return parameterFault(cause)
  const known = CLIENT_ERRORS[code]
  if (known !== undefined) {
    const facts = known[0] === 'invalid_parameter' ? { parameter: 'path' } : {}
    return new AppError(...known, { cause, facts })
  }
  const isClientsFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isClientsFault
    ? formatError('The request is malformed.', cause)
    : new AppError('internal_error', OWN_FAILURE, { cause })
}

const OWN_FAILURE =
  "An internal error occurred. To find the cause, search the service's log for this request id."

const CLIENT_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_BAD_URL: ['invalid_parameter', 'The path is not valid percent-encoded UTF-8.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_parameter', 'A segment of the path is too long.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['format_error', 'The Content-Type is not supported.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['format_error', 'The body is not valid JSON.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['format_error', 'The body is too large.'],
}

/** The refusal of a request that its schema does not permit. */
export function parameterFault(error: unknown): AppError {
  const { validation, validationContext } = error as Partial<FastifyError>
  // Of a member with several types, each fails before the whole does.
  const ofMember = validation?.find(
    ({ keyword, instancePath }) => keyword === 'anyOf' && instancePath !== '',
  )
  const fault = ofMember ?? validation?.[0]
  const { missingProperty, additionalProperty } = fault?.params ?? {}
  const named = missingProperty ?? additionalProperty ?? fault?.instancePath.slice(1)
  const parameter =
    typeof named === 'string' && named !== '' ? named : (validationContext ?? 'request')
  const detail = fault === undefined ? `${parameter} is not valid.` : detailOf(parameter, fault)
  return invalidParameter(parameter, detail, error)
}

type Fault = FastifySchemaValidationError & {
  readonly parentSchema?: JsonSchema
  readonly data?: unknown
}

function detailOf(parameter: string, fault: Fault): string {
  const { keyword, message = 'is not valid', parentSchema = {} } = fault
  const { type, format, minimum, maximum, description } = parentSchema
  if (keyword === 'additionalProperties') return `Unknown parameter "${parameter}".`
  if (keyword === 'required') return `${parameter} is required.`
  if (parentSchema.enum !== undefined) {
    return `${parameter} must be one of ${parentSchema.enum.join(', ')}.`
  }
  if (type === 'integer')
    return `${parameter} must be an integer between ${minimum} and ${maximum}.`
  if (format === 'date-time') return `${parameter} must be a time such as 2027-01-31T00:00:00Z.`
  if (keyword === 'type') return `${parameter} must be ${type === 'object' ? 'an' : 'a'} ${type}.`
  if (description === undefined) return `${parameter} ${message}.`
  return `${parameter} is ${fault.data === '' ? 'empty' : 'not valid'}. ${description}`
}

interface JsonSchema {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
}
