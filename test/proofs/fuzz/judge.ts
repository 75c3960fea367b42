import { isDeepStrictEqual } from 'node:util'
import { ERROR_CODES } from '../../../src/core/error-codes.ts'
import { sha256 } from '../crash/content.ts'
import type { AnswerCheck } from '../../openapi/answer-check.ts'
import type { FuzzCase } from './fuzz-case.ts'
import type { Exchange } from './exchange.ts'
import { type ReadConnection, type ReadRequest, valuesOf } from './request-reader.ts'
import { type ReadResponse, readResponses } from './response-reader.ts'
import { segmentsOf } from './target-reader.ts'
import { type Effect, isWrite } from './write-effects.ts'

export interface Judged {
  /** The final answers, in order. */
  readonly responses: readonly ReadResponse[]
  readonly faults: readonly string[]
}

export interface JudgeOptions {
  readonly fuzzCase: FuzzCase
  readonly connection: ReadConnection
  /** Of the requests in order, where the strict reading finds one. */
  readonly effects: readonly (Effect | undefined)[]
  /** What is wrong with what a download of the kept file found, if anything is. */
  readonly judgeKept: (content: string) => string | undefined
  /** The targets of that download, in each spelling. */
  readonly keptTargets: readonly string[]
  /** Holds answers of the public listener against its OpenAPI document. */
  readonly checkAnswer: AnswerCheck
}

/** Holds what a connection brought against what its requests, read strictly, may bring. */
export function judge(exchange: Exchange, options: JudgeOptions): Judged {
  const { fuzzCase, connection } = options
  const { requests, rest, methods } = connection
  const { responses, interim, fault } = readResponses(exchange.received, {
    methods,
    isClosed: !exchange.isHung,
  })
  const faults: string[] = []
  if (exchange.isHung) faults.push('the connection did not end in time')
  const isCut = fuzzCase.ending === 'reset'
  if (fault !== undefined && !isCut) faults.push(`no valid answer: ${fault}`)
  // A connection on which nothing comes is told so.
  const isRefused = rest !== 'nothing' || fuzzCase.ending === 'silence'
  const most = requests.length + (isRefused ? 1 : 0)
  if (responses.length > most) faults.push(`${responses.length} answers to ${most} requests`)
  const invited = requests.filter(({ headers }) => headers.some(([name]) => name === 'expect'))
  if (interim > invited.length) faults.push('an interim answer that nobody waited for')
  for (const [at, response] of responses.entries()) {
    const fault = judgeResponse(response, {
      request: requests[at],
      method: methods[at],
      effect: options.effects[at],
      options,
    })
    if (fault !== undefined) faults.push(`answer ${at + 1}: ${fault}`)
    if (!response.isWhole && !isCut)
      faults.push(`answer ${at + 1}, ${response.status}, is not whole`)
    const isLast = at === responses.length - 1
    if (!isLast && response.headers.get('connection') === 'close')
      faults.push('an answer behind the last')
  }
  return { responses, faults }
}

interface Answered {
  readonly request: ReadRequest | undefined
  readonly method: string | undefined
  readonly effect: Effect | undefined
  readonly options: JudgeOptions
}

function judgeResponse(response: ReadResponse, answered: Answered): string | undefined {
  const { status, headers, body } = response
  const { request, method, effect, options } = answered
  if (status >= 500 && !(status === 503 && headers.has('retry-after')))
    return `${status} ${headers.get('x-request-id')}`
  if (headers.has('x-injected')) return 'a header that the client wrote'
  const isPage = status === 404 && request !== undefined && isLinkPage(request)
  if (status >= 400 && response.isWhole && !method?.startsWith('HEAD') && !isPage) {
    const fault = faultOfProblem(response)
    if (fault !== undefined) return fault
  }
  if (request === undefined) {
    const isRefusal = status >= 400 && headers.get('connection') === 'close'
    return isRefusal ? undefined : `${status} to what is no request`
  }
  const isOwn = options.fuzzCase.listener === 'public'
  if (isOwn && status < 300 && isWrite(request) && effect === undefined)
    return `${status} to what is no valid ${request.method}`
  const undocumented = isOwn ? undocumentedFault(response, request, options) : undefined
  if (undocumented !== undefined) return undocumented
  const isDownload = request.method === 'GET' && options.keptTargets.includes(request.target)
  if (isDownload && status === 200 && response.isWhole) return options.judgeKept(sha256(body))
  return undefined
}

/** Browsers get a page also of a link that has ended. */
function isLinkPage(request: ReadRequest): boolean {
  const [, first] = segmentsOf(request.target)
  return first === 'links' && valuesOf(request, 'accept').includes('text/html')
}

/** Targets that name no path, or one with an empty segment. */
const NO_PATH = /^\*$|(?<!:)\/\//

function undocumentedFault(
  { status, headers, body, isWhole }: ReadResponse,
  { method, target, isWhole: isWholeRequest }: ReadRequest,
  { checkAnswer }: JudgeOptions,
): string | undefined {
  if (!isWhole || !isWholeRequest || NO_PATH.test(target)) return undefined
  // The document has the path that tus clients mean by it, with the one method that they send there.
  const isSlashed = isDeepStrictEqual(segmentsOf(target), ['', 'users', 'me', 'uploads', ''])
  if (isSlashed && method !== 'POST') return undefined
  const path = isSlashed ? '/users/me/uploads' : target
  const exchange = { method, target: path, status, headers: Object.fromEntries(headers), body }
  try {
    return checkAnswer(exchange)
  } catch (error) {
    return `${method} ${target} answered ${status}: ${String(error)}`
  }
}

const CODES: ReadonlySet<unknown> = new Set(ERROR_CODES)

function faultOfProblem({ status, headers, body }: ReadResponse): string | undefined {
  if (headers.get('content-type') !== 'application/problem+json')
    return `${status} without a problem document`
  try {
    const problem = JSON.parse(body.toString()) as { code?: unknown; status?: unknown }
    if (!CODES.has(problem.code)) return `${status} with the code ${String(problem.code)}`
    return problem.status === status
      ? undefined
      : `${status} with a document of ${String(problem.status)}`
  } catch {
    return `${status} with a document that is no JSON`
  }
}
