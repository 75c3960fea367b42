import { Readable } from 'node:stream'

export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface FakeResponse {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body?: Readable
}

/** Stands between the SDK and the fake: it may answer itself, before or after `apply` has had its effect, or never. */
export type Fault = (
  apply: () => FakeResponse,
  signal: AbortSignal,
  request: FakeRequest,
) => FakeResponse | Promise<FakeResponse>

/** Answers with an error of S3's form, without effect. */
export function refuse(status: number, code: string): Fault {
  return (_apply, _signal, request) => failure(status, code, request)
}

/** Breaks the connection before the call has had its effect. */
export function reset(): Promise<FakeResponse> {
  return Promise.reject(connectionReset())
}

/** Breaks the connection after the call has had its effect. */
export function loseAnswer(apply: () => FakeResponse): Promise<FakeResponse> {
  apply()
  return reset()
}

/** Never answers, and has no effect. It ends as the SDK's transport does when its signal aborts. */
export function hang(_apply: () => FakeResponse, signal: AbortSignal): Promise<FakeResponse> {
  return new Promise((_resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
}

/** Never answers, whatever its signal does. */
export function ignore(): Promise<FakeResponse> {
  return new Promise(() => undefined)
}

/** Answers 200 with this text, without effect. */
export function say(text: string): Fault {
  return () => xml(200, text)
}

export function answer(statusCode: number, headers: Record<string, string> = {}): FakeResponse {
  return { statusCode, headers, body: Readable.from([]) }
}

export function xml(statusCode: number, text: string): FakeResponse {
  return {
    statusCode,
    headers: { 'content-type': 'application/xml' },
    body: Readable.from([Buffer.from(text)]),
  }
}

export function failure(statusCode: number, code: string, request?: FakeRequest): FakeResponse {
  if (request?.method === 'HEAD') return answer(statusCode)
  return xml(statusCode, `<Error><Code>${code}</Code><Message>played</Message></Error>`)
}

function connectionReset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

/** Refuses a request as too old or too new, by a clock that is `ms` ahead. */
export function skewClock(ms: number): Fault {
  return (_apply, _signal, request) => {
    const refused = failure(403, 'RequestTimeTooSkewed', request)
    const date = new Date(Date.now() + ms).toUTCString()
    return { ...refused, headers: { ...refused.headers, date } }
  }
}
