import {
  clientError,
  type CloudRepositoryError,
  connectionLost,
  isProblem,
  refusal,
  unexpectedResponse,
} from '../errors.ts'
import { unlessAborted } from './abort.ts'
import { type Answer, readAnswer, type Reply } from './answer.ts'
import { Attempts, hadNoEffect, type RetryPolicy } from './retry.ts'
import { blobOf, openBody, type SentContent } from './request-body.ts'
import { ANSWER_MS, createWatchdog, SENDING_MS, STORING_MS } from './watchdog.ts'

/** How to reach the service. */
export interface ServiceAddress {
  /**
   * The address of the service with its `BASE_PATH`, such as `https://files.example.com`. In a page, it can be a path, such
   * as `/`. A server that renders the page can create the client, but not use it.
   */
  readonly url: string
  /** Replaces the `fetch` of the runtime. */
  readonly fetch?: typeof fetch | undefined
  readonly retry?: RetryPolicy | undefined
  /**
   * Called when a request has ended, also before it is sent again: with its error, or without one after a success. A page
   * can tell that the connection is lost, or ask the user to sign in again. Not called for an abort.
   */
  readonly onRequestEnd?: ((error?: CloudRepositoryError) => void) | undefined
}

/** An access token, or a function that returns the current one, called before each request. */
export type Token = string | (() => string | Promise<string>)

export interface Credentials {
  readonly token?: Token | undefined
  /** Whether the browser sends its cookies. */
  readonly cookies?: boolean | undefined
}

export interface Call {
  readonly method?: 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the address of the service, encoded. */
  readonly path: string
  /** A list is sent as one parameter for each value. */
  readonly query?: Readonly<Record<string, string | number | true | readonly string[] | undefined>>
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly json?: object | undefined
  readonly content?: SentContent
  /** Whether it is sent again only after a refusal without effect. */
  readonly isOnce?: true
  readonly signal?: AbortSignal | undefined
}

/**
 * Called with the refusal of a repetition, if the response to an earlier attempt was lost. Resolves to what that attempt
 * has done, or to `undefined` if it has done nothing.
 */
export type Recover<T> = (error: unknown) => T | undefined | Promise<T | undefined>

export type Removal = Pick<Call, 'path' | 'headers' | 'signal'>

/** Requests to one service. All methods reject with a `CloudRepositoryError`, or with the reason of the signal. */
export interface Http {
  /** Sends one request, without retries. */
  ask(call: Call): Promise<Reply>
  /** Sends one request, without retries, and resolves when the head of the response arrives. */
  open(call: Call): Promise<Answer>
  /** Sends a request, also again after temporary failures. */
  call(call: Call): Promise<Reply>
  /**
   * As `call`, for a response with JSON. A POST without `recover` is sent again only if it had no effect: it would create
   * a second thing.
   */
  json<T>(call: Call, recover?: Recover<T>): Promise<T>
  /** Deletes what is there. Succeeds if a repetition finds nothing. */
  remove(call: Removal): Promise<void>
  /** Counts the attempts of a transfer that decides itself what to repeat. */
  attempts(signal: AbortSignal | undefined): Attempts
}

/** Throws a `CloudRepositoryError` with the code `invalid_url`. */
export function createHttp(options: ServiceAddress & Credentials): Http {
  const { url, token, cookies = false, retry = {}, onRequestEnd } = options
  // Where a server renders a page, a path has no origin. Nothing is requested there.
  if (typeof url !== 'string' || !url.startsWith('/')) parseBase(url)
  const isNative = options.fetch === undefined
  const send = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))

  async function headersOf({ headers = {}, json, signal }: Call): Promise<Headers> {
    signal?.throwIfAborted()
    const sent = new Headers()
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) sent.set(name, value)
    }
    if (json !== undefined) sent.set('content-type', 'application/json')
    const current = typeof token === 'function' ? await unlessAborted(token(), signal) : token
    if (current !== undefined) sent.set('authorization', `Bearer ${current}`)
    return sent
  }

  function urlOf({ path, query = {} }: Call): URL {
    const full = new URL(path, parseBase(url))
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value ?? []].flat()) full.searchParams.append(name, String(each))
    }
    return full
  }

  async function open(call: Call): Promise<Answer & { text(): Promise<string> }> {
    const { method = 'GET', json, content, signal } = call
    const url = urlOf(call)
    const headers = await headersOf(call)
    const watchdog = createWatchdog(signal, content === undefined ? ANSWER_MS : SENDING_MS)
    let isSending = true
    const expect = (ms: number): void => {
      if (isSending) watchdog.expect(ms)
    }
    const body = content === undefined ? undefined : openBody(content, expect)
    if (body?.length !== undefined) headers.set('content-length', String(body.length))
    const init = {
      method,
      headers,
      body: body?.body ?? (json === undefined ? null : JSON.stringify(json)),
      duplex: 'half',
      credentials: cookies ? 'include' : 'omit',
      cache: 'no-store',
      signal: watchdog.signal,
      // Node.js otherwise keeps all that it has sent, in case it has to send it again.
      ...(content !== undefined && { redirect: 'error', window: null }),
    } as RequestInit
    const end = (): void => {
      watchdog.end()
      body?.end?.()
    }
    const lost = (cause: unknown): unknown => {
      end()
      if (signal?.aborted === true) return signal.reason
      return body?.failure?.() ?? connectionLost(cause)
    }
    let response
    try {
      response = await send(url, init)
    } catch (cause) {
      throw lost(cause)
    } finally {
      isSending = false
    }
    const answer = readAnswer(response, { watchdog, lost, end })
    if (response.ok) return answer
    const { status } = response
    throw refusal({ status, headers: response.headers, text: await answer.text() })
  }

  async function watched<T>(request: Promise<T>): Promise<T> {
    try {
      const result = await request
      onRequestEnd?.()
      return result
    } catch (error) {
      if (isProblem(error)) onRequestEnd?.(error)
      throw error
    }
  }

  const ask = (call: Call): Promise<Reply> => watched(askOnce(call))

  async function askOnce(call: Call): Promise<Reply> {
    const blob = isNative && call.content !== undefined ? blobOf(call.content) : undefined
    if (blob !== undefined) return askByXhr(call, blob)
    const answer = await open(call)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  /** In pages and dedicated workers, because `fetch` does not tell the progress of an upload. */
  async function askByXhr(call: Call, blob: Blob): Promise<Reply> {
    const { method = 'POST', content, signal } = call
    const { sendByXhr } = await import('./xhr.ts')
    const headers = await headersOf(call)
    const watchdog = createWatchdog(signal, SENDING_MS)
    const onSent = (sent: number): void => {
      watchdog.expect(sent < blob.size ? SENDING_MS : STORING_MS)
      content?.onSent?.(sent)
    }
    const reply = await sendByXhr({
      method,
      url: urlOf(call),
      headers,
      body: blob,
      onSent,
      withCredentials: cookies,
      signal: watchdog.signal,
    })
      .catch(async (cause: unknown) => {
        signal?.throwIfAborted()
        // The request does not tell that the file has changed. Reading it does.
        await blob.slice(0, 1).arrayBuffer()
        throw connectionLost(cause)
      })
      .finally(() => watchdog.end())
    if (reply.status >= 200 && reply.status < 300) return reply
    throw refusal(reply)
  }

  const attempts = (signal: AbortSignal | undefined): Attempts => new Attempts(retry, signal)

  /**
   * Makes attempts, until one succeeds or `recover` finds what one has done whose response was lost. Without `recover`,
   * makes another one only if the last had no effect.
   */
  async function repeat<T>(
    signal: AbortSignal | undefined,
    attempt: () => Promise<T>,
    recover: Recover<T> | undefined,
  ): Promise<T> {
    for (const tries = attempts(signal); ;) {
      try {
        return await attempt()
      } catch (error) {
        if (recover === undefined && !hadNoEffect(error)) throw error
        const done = tries.isUncertain ? await recover?.(error) : undefined
        if (done !== undefined) return done
        await tries.waitAfter(error)
      }
    }
  }

  async function remove(asked: Removal): Promise<void> {
    const attempt = async (): Promise<true> => {
      const { status } = await ask({ ...asked, method: 'DELETE' })
      // A proxy or a page to sign in says 200, and has deleted nothing.
      if (status === 200) throw unexpectedResponse(status, { missing: 'deletion' })
      return true
    }
    await repeat(asked.signal, attempt, (error) => isGone(error) || undefined)
  }

  return {
    ask,
    open: (call) => watched(open(call)),
    call: (asked) => repeat(asked.signal, () => ask(asked), asked.isOnce ? undefined : repeatable),
    json: <T>(
      asked: Call,
      recover: Recover<T> | undefined = asked.method === 'POST' ? undefined : repeatable,
    ) => repeat(asked.signal, async () => parseJson(await ask(asked)) as T, recover),
    remove,
    attempts,
  }
}

/** Of what does the same if it is sent again. */
export function repeatable(): undefined {}

function parseBase(url: string): URL {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  try {
    const base = new URL(url.endsWith('/') ? url : `${url}/`, location?.href)
    // `localhost:3000` has the scheme `localhost:`.
    if (/^https?:$/.test(base.protocol)) return base
  } catch {
    // Told below.
  }
  throw clientError('invalid_url', `${JSON.stringify(url)} is no http: or https: address.`)
}

/** Whether there is nothing to delete. An upload that has become a file is not deleted. */
function isGone(error: unknown): boolean {
  if (isProblem(error, 'upload_gone')) return error.problem.outcome !== 'finished'
  return isProblem(error, 'not_found', 'version_gone')
}

/** Rejects what is no JSON, such as the page of a proxy, with `unexpected_response`. */
export function parseJson({ text, status }: Reply): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw unexpectedResponse(status, { missing: 'JSON', cause })
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
  // With an unpaired surrogate, a name has no UTF-8.
  if (/^\.{0,2}$|\p{Surrogate}/u.test(name)) {
    throw clientError('invalid_file_name', `${JSON.stringify(name)} is no segment of a path.`)
  }
  return encodeURIComponent(name)
}

/** Percent-encodes the segments of a file name, between its slashes. Throws for what is none, as `segment` does. */
export function encodeFilePath(name: string): string {
  // The slash at the end of a marker begins no segment.
  const [path = '', slash = ''] = name.split(/(\/$)/)
  return path.split('/').map(segment).join('/') + slash
}
