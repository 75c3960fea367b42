import { AppError } from '../../../src/core/errors.ts'
import { ERROR_CODES, ERROR_KINDS, type ErrorCode } from '../../../src/core/error-codes.ts'
import { PROBLEM_MEDIA_TYPE, problemOf, titleOf } from '../../../src/http/server/problem.ts'
import type { OperatorRole } from '../../../src/core/operators/operator.ts'
import type { Json, Operation } from '../../../src/http/openapi/operation.ts'
import { headerRefs } from './headers.ts'

/** Any request can be refused with these codes. */
const ALWAYS = [
  'format_error',
  'invalid_parameter',
  'request_timeout',
  'request_head_too_large',
  'too_many_requests',
  'internal_error',
  'unavailable',
] as const satisfies readonly ErrorCode[]

/** Refusals shared by operations that look at credentials, require them, or write. */
export interface CommonProblems {
  readonly credentials: readonly ErrorCode[]
  readonly required: readonly ErrorCode[]
  readonly write: readonly ErrorCode[]
}

export interface RefusingOperation {
  readonly methods: readonly string[]
  readonly path: string
  readonly operation: Operation
  readonly role: OperatorRole | undefined
}

export function problemsOf(
  { methods, path, operation, role }: RefusingOperation,
  common: CommonProblems,
): readonly ErrorCode[] {
  const { credentials = 'required', parameters, problems = [] } = operation
  const isRead = methods.some((method) => method === 'GET' || method === 'HEAD')
  return [
    ALWAYS,
    problems,
    credentials === 'none' ? [] : common.credentials,
    credentials === 'required' ? common.required : [],
    isRead ? [] : common.write,
    isRestricted(role) ? (['operator_forbidden'] as const) : [],
    path.includes('{file_name}') ? (['invalid_file_name'] as const) : [],
    parameters?.header?.['If-Match'] ? (['precondition_failed'] as const) : [],
  ].flat()
}

/** Whether some operators may not do it. */
export function isRestricted(role: OperatorRole | undefined): boolean {
  return role !== undefined && role !== 'viewer'
}

export function problemResponses(codes: readonly ErrorCode[]): Readonly<Record<string, Json>> {
  const distinct = ERROR_CODES.filter((code) => codes.includes(code))
  const byStatus = Object.groupBy(distinct, (code) => ERROR_KINDS[code].status)
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => [
      status,
      responseOf(Number(status), group),
    ]),
  )
}

function responseOf(status: number, codes: readonly ErrorCode[]): Json {
  const causes = codes.map((code) => `- \`${code}\`: ${ERROR_KINDS[code].meaning}`)
  const schema = {
    $ref: '#/components/schemas/Problem',
    properties: { status: { const: status }, code: { enum: codes } },
  }
  const examples: Json = Object.fromEntries(
    codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
  )
  return {
    description: [`${titleOf(status)}.`, '', ...causes].join('\n'),
    headers: headersOf(status),
    content: { [PROBLEM_MEDIA_TYPE]: { schema, examples } },
  }
}

const EXTRA_HEADERS: Readonly<Record<number, string>> = {
  401: 'WWW-Authenticate',
  416: 'Content-Range',
  423: 'Retry-After',
  429: 'Retry-After',
  503: 'Retry-After',
}

function headersOf(status: number): Json {
  const extra = EXTRA_HEADERS[status]
  return headerRefs(['X-Request-Id', ...(extra === undefined ? [] : [extra])])
}

export function problemExamples(): Json {
  return Object.fromEntries(ERROR_CODES.map((code) => [code, exampleOf(code)]))
}

function exampleOf(code: ErrorCode): Json {
  const { meaning, detail = meaning, facts = {} } = ERROR_KINDS[code]
  const error = new AppError(code, detail, { facts })
  return { summary: meaning, value: problemOf(error, '6f1c1c0e-52c4-4f0e-9d0b-3a7d5f4f2a11') }
}
