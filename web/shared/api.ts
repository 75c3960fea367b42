import { type Signal, signal } from '@preact/signals'
import { backOffMs, pause } from './sleep.ts'

/** A refusal or failure that the service reported. */
export class ProblemError extends Error {
  readonly status: number
  readonly code: string
  /** All members of the problem document, including the figures of some codes. */
  readonly facts: Readonly<Record<string, unknown>>
  /** From `Retry-After`; 0 without that header. */
  readonly retryAfterMs: number

  constructor(
    status: number,
    problem: Readonly<Record<string, unknown>>,
    retryAfter: string | null,
  ) {
    super(typeof problem['detail'] === 'string' ? problem['detail'] : `Status ${status}.`)
    this.name = 'ProblemError'
    this.status = status
    this.code = typeof problem['code'] === 'string' ? problem['code'] : 'internal_error'
    this.facts = problem
    this.retryAfterMs = Math.min(Number(/^\d+$/.exec(retryAfter ?? '')), MAX_RETRY_SECONDS) * 1000
  }

  /** The code, or a more specific name for one of its causes. */
  get reason(): string {
    const isTwo = this.code === 'access_token_invalid' && this.fact('access_tokens') > 1
    return isTwo ? TWO_TOKENS : this.code
  }

  /** Whether the response gives the reason. Responses to HEAD, and those of proxies, do not. */
  get isExplained(): boolean {
    return 'code' in this.facts
  }

  fact(name: string): number {
    const value = this.facts[name]
    return typeof value === 'number' ? value : 0
  }
}

const MAX_RETRY_SECONDS = 3600

/** The browser has sent two different access tokens. */
export const TWO_TOKENS = 'two_access_tokens'

/** The request got no response. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super('No connection.', { cause })
    this.name = 'ConnectionError'
  }
}

export interface Call {
  readonly method?: 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly json?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Lets the request outlive the page. */
  readonly keepalive?: boolean
}

export interface Api {
  /** Whether the last `read` got a response. */
  readonly isConnected: Signal<boolean>
  /** Resolves a path against the page's base URL. */
  urlOf(path: string): string
  /** Reads JSON and retries until the service responds. Rejects with a `ProblemError`. */
  read<T>(path: string): Promise<T>
  /** Sends one request without retries. Rejects with a `ProblemError` or a `ConnectionError`. */
  call<T>(path: string, call: Call): Promise<T>
  /** Reads a text response, without retries. Rejects as `call` does. */
  text(path: string): Promise<string>
}

export interface ApiOptions {
  /** The base URL of the page. */
  readonly base: string
  /** Called when the service refuses the token of a request. */
  readonly onRefusedToken: (reason: string) => void
}

const TOKEN_CODES = new Set([
  'access_token_missing',
  'access_token_invalid',
  'user_suspended',
  // For the admin token.
  'unauthorized',
])

export function isTokenCode(code: string): boolean {
  return TOKEN_CODES.has(code)
}

/** A client of the API that serves this page. */
export function createApi({ base, onRefusedToken }: ApiOptions): Api {
  const isConnected = signal(true)

  async function call<T>(path: string, call: Call): Promise<T> {
    const text = await ask(path, call)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  async function ask(path: string, { method, json, headers, keepalive }: Call): Promise<string> {
    const body = json === undefined ? {} : { body: JSON.stringify(json) }
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    const init = { ...body, headers: { ...type, ...headers } }
    const options = { ...init, method: method ?? 'GET', keepalive: keepalive ?? false }
    const response = await fetch(urlOf(path), options).catch((cause: unknown) => {
      throw new ConnectionError(cause)
    })
    const text = await response.text()
    if (response.ok) return text
    const retryAfter = response.headers.get('retry-after')
    const problem = problemOf({ status: response.status, text, retryAfter })
    if (isTokenCode(problem.code)) onRefusedToken(problem.reason)
    throw problem
  }

  async function read<T>(path: string): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = await call<T>(path, {})
        isConnected.value = true
        return answer
      } catch (error) {
        if (!isPassing(error)) throw error
        isConnected.value = !(error instanceof ConnectionError)
        await pause(retryMs(error, tries))
      }
    }
  }

  function urlOf(path: string): string {
    return new URL(path, base).href
  }

  return { isConnected, urlOf, read, call, text: (path) => ask(path, {}) }
}

export interface Refusal {
  readonly status: number
  readonly text: string
  /** The value of the header `Retry-After`. */
  readonly retryAfter: string | null
}

/** Parses an error response. Responses of a proxy are not problem documents. */
export function problemOf({ status, text, retryAfter }: Refusal): ProblemError {
  try {
    return new ProblemError(status, JSON.parse(text) as Record<string, unknown>, retryAfter)
  } catch {
    return new ProblemError(status, {}, retryAfter)
  }
}

/** Whether a retry of the same request may succeed. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof ProblemError && [408, 423, 429, 502, 503, 504].includes(error.status))
  )
}

/** Delay before the next retry: exponential backoff, but at least `Retry-After`. */
export function retryMs(error: unknown, tries: number): number {
  const asked = error instanceof ProblemError ? error.retryAfterMs : 0
  return Math.max(asked, backOffMs(tries))
}

/** The path of a file. */
export function pathOf(name: string, owner = 'me'): string {
  return `users/${owner}/repo/${encodeURIComponent(name.toWellFormed())}`
}
