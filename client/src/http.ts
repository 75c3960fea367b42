import { clientError, connectionLost, isProblem, refusal } from './errors.ts'
import { Attempts, hadNoEffect, type RetryPolicy } from './retry.ts'
import { builtin } from './runtime.ts'
import type { Source } from './source.ts'
import { sendByXhr } from './xhr.ts'

/** How to reach the service. */
export interface ServiceAddress {
  /** The address of the service with its `BASE_PATH`, such as `https://files.example.com`. In a page, it can be a path. */
  readonly url: string
  /** Replaces the `fetch` of the runtime. */
  readonly fetch?: typeof fetch
  readonly retry?: RetryPolicy
}

/** An access token, or a function that returns the current one, called before each request. */
export type Token = string | (() => string | Promise<string>)

export interface Credentials {
  readonly token?: Token
  /** Whether the browser sends its cookies. */
  readonly cookies?: boolean
}

export interface Call {
  readonly method?: 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the address of the service, encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly json?: object | undefined
  readonly content?: SentContent
  /** Whether a repetition would create a second thing. Then it is sent again only if it had no effect. */
  readonly isCreation?: boolean
  readonly signal?: AbortSignal | undefined
}

/** The body of a request: the bytes of a source from `start` to its end, or a stream that can be sent once. */
export interface SentContent {
  readonly source: Pick<Source, 'read' | 'blob'>
  readonly start: number
  /** `undefined` if the length is unknown. */
  readonly end: number | undefined
  /** Called with the number of bytes sent so far. */
  readonly onSent?: (bytes: number) => void
}

/** A successful response that has arrived whole. */
export interface Reply {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly text: string
}

/** A successful response whose content is still to be read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The next bytes, or `undefined` at the end. Rejects with `connection_lost` if none arrive within `stallMs`. */
  read(stallMs: number): Promise<Uint8Array | undefined>
  cancel(): void
}

/** Requests to one service. All methods reject with a `CloudRepositoryError`, or with the reason of the signal. */
export interface Http {
  /** Sends one request, without retries. */
  ask(call: Call): Promise<Reply>
  /** Sends one request, without retries, and resolves when the head of the response arrives. */
  open(call: Call): Promise<Answer>
  /** Sends a request, also again after temporary failures. */
  call(call: Call): Promise<Reply>
  /** As `call`, for a response with JSON. */
  json<T>(call: Call): Promise<T>
  /** Counts the attempts of a transfer that decides itself what to repeat. */
  attempts(signal: AbortSignal | undefined): Attempts
}

/** The service answers within this time, unless it is lost. */
const ANSWER_MS = 60_000
/** Time without progress after which an upload counts as lost. */
const SENDING_MS = 120_000
/** When all bytes are sent, the service may still have to read them again. */
const STORING_MS = 600_000

const GONE = ['not_found', 'upload_gone', 'version_gone'] as const
const DONE: Reply = { status: 204, headers: { get: () => null }, text: '' }

export function createHttp(address: ServiceAddress, { token, cookies }: Credentials): Http {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  const { url } = address
  const base = new URL(url.endsWith('/') ? url : `${url}/`, location?.href)
  const retry = address.retry ?? {}
  const isNative = address.fetch === undefined
  const send = address.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))

  async function headersOf({ headers = {}, json }: Call): Promise<Headers> {
    const sent = new Headers()
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) sent.set(name, value)
    }
    if (json !== undefined) sent.set('content-type', 'application/json')
    const current = typeof token === 'function' ? await token() : token
    if (current !== undefined) sent.set('authorization', `Bearer ${current}`)
    return sent
  }

  function urlOf({ path, query = {} }: Call): URL {
    const url = new URL(path, base)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return url
  }

  async function open(call: Call): Promise<Answer & { text(): Promise<string> }> {
    const { method = 'GET', json, content, signal } = call
    signal?.throwIfAborted()
    const url = urlOf(call)
    const headers = await headersOf(call)
    const watchdog = createWatchdog(signal, content === undefined ? ANSWER_MS : SENDING_MS)
    let isSending = true
    const expect = (ms: number): void => {
      if (isSending) watchdog.expect(ms)
    }
    const body = content === undefined ? undefined : bodyOf(content, expect)
    if (body?.length !== undefined) headers.set('content-length', String(body.length))
    const init = {
      method,
      headers,
      body: body?.body ?? (json === undefined ? null : JSON.stringify(json)),
      duplex: 'half',
      credentials: cookies === true ? 'include' : 'omit',
      cache: 'no-store',
      signal: watchdog.signal,
    } as RequestInit
    const lost = (cause: unknown): unknown => {
      watchdog.end()
      if (signal?.aborted === true) return signal.reason
      return body?.failure() ?? connectionLost(cause)
    }
    const response = await send(url, init)
      .catch((cause: unknown) => {
        throw lost(cause)
      })
      .finally(() => {
        isSending = false
      })
    const answer = answerOf(response, watchdog, lost)
    if (response.ok) return answer
    const { status } = response
    throw refusal({ status, headers: response.headers, text: await answer.text() })
  }

  async function ask(call: Call): Promise<Reply> {
    const blob = isNative && call.content !== undefined ? blobOf(call.content) : undefined
    if (blob !== undefined) return askByXhr(call, blob)
    const answer = await open(call)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  /** In pages and dedicated workers, because `fetch` does not tell the progress of an upload. */
  async function askByXhr(call: Call, blob: Blob): Promise<Reply> {
    const { method = 'POST', content, signal } = call
    signal?.throwIfAborted()
    const headers = await headersOf(call)
    const watchdog = createWatchdog(signal, SENDING_MS)
    const onSent = (sent: number): void => {
      watchdog.expect(sent < blob.size ? SENDING_MS : STORING_MS)
      content?.onSent?.(sent)
    }
    const request = { method, url: urlOf(call), headers, body: blob, onSent }
    const reply = await sendByXhr({
      ...request,
      withCredentials: cookies === true,
      signal: watchdog.signal,
    }).catch((cause: unknown) => {
      throw signal?.aborted === true ? signal.reason : connectionLost(cause)
    })
    watchdog.end()
    if (reply.status >= 200 && reply.status < 300) return reply
    throw refusal(reply)
  }

  const attempts = (signal: AbortSignal | undefined): Attempts => new Attempts(retry, signal)

  async function call(asked: Call): Promise<Reply> {
    for (const tries = attempts(asked.signal); ;) {
      try {
        return await ask(asked)
      } catch (error) {
        if (asked.isCreation === true && !hadNoEffect(error)) throw error
        // The attempt whose response was lost has deleted it.
        if (asked.method === 'DELETE' && tries.isUncertain && isProblem(error, ...GONE)) return DONE
        await tries.waitAfter(error)
      }
    }
  }

  async function json<T>(asked: Call): Promise<T> {
    return parseJson(await call(asked)) as T
  }

  return { ask, open, call, json, attempts }
}

/** Rejects what is no JSON, such as the page of a proxy, with `unexpected_response`. */
export function parseJson({ text, status }: Reply): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw clientError(
      'unexpected_response',
      `The response has the status ${status} and no JSON.`,
      cause,
    )
  }
}

/** A condition of the current file: its `etag`, or `*` for any. */
export interface Conditions {
  /** The request succeeds only if the file has this `etag`; `*`: if there is a file. */
  readonly ifMatch?: string | undefined
  /** `*`: the request succeeds only if there is no file; an `etag`: only if the file has another one. */
  readonly ifNoneMatch?: string | undefined
}

export function conditionHeaders({
  ifMatch,
  ifNoneMatch,
}: Conditions): Record<string, string | undefined> {
  return { 'if-match': quoted(ifMatch), 'if-none-match': quoted(ifNoneMatch) }
}

export function quoted(etag: string | undefined): string | undefined {
  return etag === undefined || etag === '*' ? etag : `"${etag}"`
}

/**
 * Percent-encodes a name or an id as a segment of a path. Throws for what is no segment: the URL would be that of
 * something else.
 */
export function segment(name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw clientError('invalid_file_name', `${JSON.stringify(name)} is no name or id.`)
  }
  return encodeURIComponent(name)
}

interface Watchdog {
  readonly signal: AbortSignal
  /** Aborts unless it is called again, or ended, within this time. */
  expect(ms: number): void
  end(): void
  abort(): void
}

function createWatchdog(signal: AbortSignal | undefined, firstMs: number): Watchdog {
  const stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (): void => clearTimeout(timer)
  const expect = (ms: number): void => {
    end()
    timer = setTimeout(() => stop.abort(new Error(`Nothing happened for ${ms} ms.`)), ms)
  }
  expect(firstMs)
  const signals = signal === undefined ? [stop.signal] : [signal, stop.signal]
  return { signal: AbortSignal.any(signals), expect, end, abort: () => stop.abort() }
}

function answerOf(response: Response, watchdog: Watchdog, lost: (cause: unknown) => unknown) {
  const reader = response.body?.getReader()
  async function read(stallMs: number): Promise<Uint8Array | undefined> {
    watchdog.expect(stallMs)
    try {
      return (await reader?.read())?.value
    } catch (cause) {
      throw lost(cause)
    } finally {
      watchdog.end()
    }
  }
  async function text(): Promise<string> {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const bytes = await read(ANSWER_MS)
      if (bytes === undefined) return text + decoder.decode()
      text += decoder.decode(bytes, { stream: true })
    }
  }
  const { status, headers } = response
  watchdog.end()
  return { status, headers, read, text, cancel: () => watchdog.abort() }
}

interface RequestBody {
  readonly body: NonNullable<RequestInit['body']>
  /** `undefined` if the runtime sets the header itself, or if the length is unknown. */
  readonly length: number | undefined
  /** The error of the source, which `fetch` would report as a failure of its own. */
  failure(): unknown
}

/** A stream in Node.js, Deno and Bun, so that nothing is read before the network takes it; a `Blob` in browsers. */
function bodyOf(content: SentContent, expect: (ms: number) => void): RequestBody {
  const { source, start, end, onSent } = content
  if (builtin('node:fs/promises') === undefined && end !== undefined) {
    const blob = source.blob(start, end)
    if (blob !== undefined) return { body: blob, length: undefined, failure: () => undefined }
  }
  const length = end === undefined ? undefined : end - start
  if (length === 0) return { body: '', length: undefined, failure: () => undefined }
  const chunks = source.read(start, end ?? Infinity)[Symbol.asyncIterator]()
  let failure: unknown
  let sent = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      const next = await chunks.next()
      expect(next.done === true ? STORING_MS : SENDING_MS)
      if (next.done === true) return controller.close()
      onSent?.(sent)
      sent += next.value.length
      controller.enqueue(next.value)
    } catch (error) {
      failure = error
      throw error
    }
  }
  const cancel = async (): Promise<void> => void (await chunks.return?.())
  const body = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })
  return { body, length, failure: () => failure }
}

/** The body as a `Blob`, where `XMLHttpRequest` can send it. */
function blobOf({ source, start, end }: SentContent): Blob | undefined {
  return 'XMLHttpRequest' in globalThis && end !== undefined ? source.blob(start, end) : undefined
}
