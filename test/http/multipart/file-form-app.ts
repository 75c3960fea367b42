import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import fastify from 'fastify'
import { AppError, isAppError } from '../../../src/core/errors.ts'
import { Connections } from '../../../src/http/server/connections.ts'
import { shareReads } from '../../../src/http/server/unread-body.ts'
import { openFileForm, type FileForm } from '../../../src/http/multipart/file-form.ts'
import type { RawExchange } from '../../support/http/raw-http.ts'

export interface FormAppOptions {
  readonly idleTimeoutMs?: number
  /** Bytes of content after which the handler gives up with `capacity_exceeded`. */
  readonly maxBytes?: number
  /** Milliseconds that the handler takes over every piece of content. */
  readonly slowMs?: number
  /** Milliseconds that the handler takes between the content's end and `end()`. */
  readonly settleMs?: number
}

export interface Received {
  readonly size: number
  readonly sha256: string
  readonly announced: number | null
  readonly min: number
}

/** A service that does nothing but receive forms: it answers with what it got, and notes how every request ended. */
export async function startFormApp(options: FormAppOptions = {}) {
  const app = fastify({ forceCloseConnections: true })
  const outcomes: string[] = []
  const leaks: string[] = []
  const stopped = new AbortController()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.decorate('idleTimeoutMs', options.idleTimeoutMs ?? 5_000)
  const connections = new Connections()
  connections.watch(app.server, { logger: undefined })
  shareReads(app, connections)
  app.setErrorHandler((error, request, reply) => {
    request.raw.resume()
    const code = isAppError(error) ? error.code : `internal: ${String(error)}`
    return reply.code(statusOf(code)).send({ code })
  })
  app.get('/', () => ({ alive: true }))
  app.post('/upload', async (request) => {
    const before = listeners(request.raw)
    try {
      const received = await receive(request, { ...options, signal: stopped.signal })
      outcomes.push('received')
      return received
    } catch (error) {
      outcomes.push(isAppError(error) ? error.code : `internal: ${String(error)}`)
      throw error
    } finally {
      const after = listeners(request.raw)
      if (after !== before) leaks.push(`${before} -> ${after}`)
    }
  })
  const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)

  /** Also makes sure that no request was left with a listener of ours. */
  async function close(): Promise<void> {
    await app.close()
    if (leaks.length > 0) throw new Error(`listeners: ${leaks.join(', ')}`)
  }

  return { port, outcomes, stop: stopped, close }
}

/** Status and `code` of a refusal, or the status and `received`. */
export function codeOf({ status, body }: RawExchange): string {
  return `${status} ${(JSON.parse(body.toString()) as { code?: string }).code ?? 'received'}`
}

export function receivedOf({ body }: RawExchange): Received {
  return JSON.parse(body.toString()) as Received
}

async function receive(
  request: Parameters<typeof openFileForm>[0],
  options: FormAppOptions & { signal: AbortSignal },
): Promise<Received> {
  const { settleMs = 0, signal } = options
  using form = await openFileForm(request, { signal })
  const { size, sha256 } = await read(form, options)
  if (settleMs > 0) await delay(settleMs)
  await form.end()
  return { size, sha256, min: form.size.min, announced: form.size.announced ?? null }
}

async function read(form: FileForm, { maxBytes = Infinity, slowMs = 0 }: FormAppOptions) {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of form.content as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new AppError('capacity_exceeded', 'The repository is full.')
    hash.update(chunk)
    if (slowMs > 0) await delay(slowMs)
  }
  return { size, sha256: hash.digest('hex') }
}

/** Resolves when `ready` says so, which it must within two seconds. */
export async function eventually(ready: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (ready()) return
    await delay(10)
  }
  throw new Error('it did not happen within two seconds')
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function statusOf(code: string): number {
  if (code.startsWith('internal')) return 500
  return { request_timeout: 408, capacity_exceeded: 403, unavailable: 503 }[code] ?? 400
}

function listeners(raw: IncomingMessage): string {
  return ['data', 'end', 'error', 'close', 'aborted', 'pause', 'readable']
    .map((event) => `${event}:${raw.listenerCount(event)}`)
    .join(' ')
}
