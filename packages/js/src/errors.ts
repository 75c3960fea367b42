import type { components } from './generated/api.ts'
import type { ProblemMembers } from './generated/problem-members.ts'

type Problem = components['schemas']['Problem']

/** The codes of the service's problem documents (docs/api.md, Errors). */
export type ServiceErrorCode = components['schemas']['Problem']['code']

/**
 * The codes that the client adds.
 *
 * - `invalid_url`: the `url` of the client is no address with `http:` or `https:`. Nothing was sent.
 * - `connection_lost`: no complete response arrived, also after the retries. The request may have taken effect.
 * - `unexpected_response`: a response that is not from the service, for example of a proxy. `status` has its status.
 * - `file_changed`: the file was replaced or deleted while it was being downloaded. Download it again.
 * - `outcome_unknown`: the response to a rename or a restore was lost, and the repetition does not tell whether it took
 *   effect. List the files.
 * - `upload_superseded`: the upload was stored, and the file has been replaced, renamed or deleted since.
 */
export type ClientErrorCode =
  | 'invalid_url'
  | 'connection_lost'
  | 'unexpected_response'
  | 'file_changed'
  | 'outcome_unknown'
  | 'upload_superseded'

export type ErrorCode = ServiceErrorCode | ClientErrorCode

/** The problem document of a code, with the members that it has. For codes of the client, it has `code` and `detail`. */
export type ProblemOf<C extends ErrorCode> = C extends keyof ProblemMembers
  ? CommonMembers<C> &
      Pick<Required<Problem>, ProblemMembers[C]['always']> &
      Partial<Pick<Problem, ProblemMembers[C]['sometimes']>>
  : CommonMembers<C>

interface CommonMembers<C> {
  readonly code: C
  readonly detail: string
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly status?: number | undefined
  readonly request_id?: string | undefined
  /** Of a refused batch: the index of the operation that is refused. */
  readonly operation?: number | undefined
  /** Of a batch that is refused because its prefixes match too many files: how many, exact up to 10,000. */
  readonly matched?: number | undefined
}

/**
 * Every refusal of the service and every failure of the network. Aborts reject with the reason of the signal instead,
 * and content that cannot be read with the error of its source.
 *
 * A newer service can return codes that `ErrorCode` does not have yet, so keep a default branch.
 */
export class CloudRepositoryError extends Error {
  readonly code: ErrorCode
  /** The members depend on the code: `switch (error.problem.code)` or `isProblem` narrows them. */
  readonly problem: ProblemOf<ErrorCode>
  /** The status of the response; `undefined` without a response. */
  readonly status: number | undefined
  /** Seconds to wait before a retry, from `Retry-After`. */
  readonly retryAfter: number | undefined
  /** Finds the request in the log of the service. */
  readonly requestId: string | undefined

  constructor(problem: ProblemOf<ErrorCode>, origin: ErrorOrigin = {}) {
    super(problem.detail, { cause: origin.cause })
    this.name = 'CloudRepositoryError'
    this.code = problem.code
    this.problem = problem
    this.status = origin.status
    this.retryAfter = origin.retryAfter
    this.requestId = problem.request_id
  }
}

interface ErrorOrigin {
  readonly status?: number | undefined
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/** Whether an error is a `CloudRepositoryError` with one of these codes; with any code if none is named. */
export function isProblem<C extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is CloudRepositoryError & { readonly code: C; readonly problem: ProblemOf<C> } {
  if (!(error instanceof CloudRepositoryError)) return false
  return codes.length === 0 || codes.some((code) => code === error.code)
}

export function connectionLost(cause: unknown): CloudRepositoryError {
  return clientError('connection_lost', 'The connection was lost.', cause)
}

export function outcomeUnknown(cause: unknown): CloudRepositoryError {
  return clientError('outcome_unknown', 'The response to the change was lost.', cause)
}

export function clientError(
  code: Exclude<ClientErrorCode, 'unexpected_response'> | 'not_found' | 'invalid_file_name',
  detail: string,
  cause?: unknown,
): CloudRepositoryError {
  return new CloudRepositoryError({ code, detail }, { cause })
}

/** The error of a response that is not from the service, since it lacks what that always sends. */
export function unexpectedResponse(
  status: number,
  { missing, cause }: { readonly missing: string; readonly cause?: unknown },
): CloudRepositoryError {
  return new CloudRepositoryError(unexpected(status, missing), { status, cause })
}

function unexpected(status: number, missing: string): ProblemOf<'unexpected_response'> {
  const detail = `The response has the status ${status} and no ${missing}.`
  return { code: 'unexpected_response', detail }
}

/** The error of a response that is not a success. Responses to `HEAD` and those of proxies have no problem document. */
export function refusal(response: {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly text: string
}): CloudRepositoryError {
  const { status, headers, text } = response
  const seconds = headers.get('retry-after')
  const retryAfter = seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) : undefined
  const problem = parseProblem(text) ?? unexpected(status, 'problem document')
  return new CloudRepositoryError(problem, { status, retryAfter })
}

function parseProblem(text: string): ProblemOf<ErrorCode> | undefined {
  try {
    const problem = JSON.parse(text) as Partial<ProblemOf<ErrorCode>> | null
    if (typeof problem?.code !== 'string') return undefined
    return { detail: problem.code, ...problem } as ProblemOf<ErrorCode>
  } catch {
    return undefined
  }
}
