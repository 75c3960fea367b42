import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { Transform } from 'node:stream'

/** What happens to a request on its way. */
export type Mishap =
  | { readonly status: 429 | 503; readonly retryAfter: number }
  /** Nobody answers. */
  | 'lost'
  /** The service answers, and the connection is lost before the first byte of its answer. */
  | 'unanswered'
  /** The same, if the service refuses the request. */
  | 'refusal lost'
  /** The connection is lost when that many bytes of the content have gone to the client; then `meanwhile` is done. */
  | { readonly cutAfter: number; readonly meanwhile?: () => Promise<unknown> }
  /** The connection is lost when that many bytes of its content have come. */
  | { readonly breaksAt: number; readonly meanwhile: () => unknown }
  /** When that many bytes of its content have come, the rest waits until `meanwhile` is done. */
  | { readonly waitsAt: number; readonly meanwhile: () => Promise<unknown> }

export interface Met {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** When it came, in milliseconds by a clock of its own. */
  readonly at: number
  /** Bytes of its content so far. */
  received: number
}

export interface Page {
  readonly type: string
  readonly content: string
}

export interface HttpProxyOptions {
  /** Of the service behind it. */
  readonly port: number
  /** What happens to a request for which `mishaps` has none. */
  readonly onRequest?:
    | ((request: Met) => Mishap | undefined | Promise<Mishap | undefined>)
    | undefined
}

/** Stands before the service, as a network in which requests meet with mishaps, or a product with pages of its own. */
export interface HttpProxy {
  readonly url: string
  /** Those of the next requests, one each, in order. */
  readonly mishaps: Mishap[]
  /** What has come for the service so far. */
  readonly requests: Met[]
  /** What it answers by itself, by path. `/page` is empty at first. */
  readonly pages: Map<string, Page>
  /** By method what it answers 503 with, with these headers, when the request's body has come. */
  readonly refusals: Map<string, OutgoingHttpHeaders>
  stop(): Promise<void>
}

export async function startHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  const { port, onRequest } = options
  const mishaps: Mishap[] = []
  const requests: Met[] = []
  const pages = new Map([['/page', { type: 'text/html', content: '<!doctype html><body></body>' }]])
  const refusals = new Map<string, OutgoingHttpHeaders>()

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming
    const page = pages.get(path)
    const refusal = refusals.get(method)
    if (refusal !== undefined) return refuse(incoming, outgoing, { status: 503, headers: refusal })
    if (page !== undefined) {
      return void outgoing.writeHead(200, { 'content-type': page.type }).end(page.content)
    }
    const met: Met = { method, path, headers, at: performance.now(), received: 0 }
    requests.push(met)
    const mishap = mishaps.shift() ?? (await onRequest?.(met))
    if (mishap === 'lost') return void incoming.socket.destroy()
    if (typeof mishap === 'object' && 'status' in mishap) {
      const { status, retryAfter } = mishap
      const code = status === 429 ? 'too_many_requests' : 'unavailable'
      const headers = { 'content-type': 'application/problem+json', 'retry-after': `${retryAfter}` }
      return refuse(incoming, outgoing, { status, headers, body: JSON.stringify({ status, code }) })
    }
    forward({ incoming, outgoing, met, port, mishap })
  }

  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mishaps,
    requests,
    pages,
    refusals,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Refusal {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body?: string
}

function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, headers, body }: Refusal,
): void {
  incoming.resume().once('end', () => outgoing.writeHead(status, headers).end(body))
}

interface Forwarded {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly met: Met
  readonly port: number
  readonly mishap: Mishap | undefined
}

function forward({ incoming, outgoing, met, port, mishap }: Forwarded): void {
  const { method, path } = met
  // Answered here already.
  const { expect: _expect, ...headers } = met.headers
  const asked = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false })
  asked.once('response', (answer) => {
    const { statusCode = 502, headers } = answer
    if (mishap === 'unanswered' || (mishap === 'refusal lost' && statusCode >= 400)) {
      return void outgoing.destroy()
    }
    outgoing.writeHead(statusCode, headers)
    answer.once('error', () => outgoing.destroy())
    if (typeof mishap === 'object' && 'cutAfter' in mishap) void cut(answer, outgoing, mishap)
    else answer.pipe(outgoing)
  })
  asked.once('error', () => outgoing.destroy())
  outgoing.once('close', () => asked.destroy())
  incoming.pipe(counting({ incoming, met, mishap })).pipe(asked)
}

/** Passes on the content of a request, as far as the mishap lets it. */
function counting({
  incoming,
  met,
  mishap,
}: Pick<Forwarded, 'incoming' | 'met' | 'mishap'>): Transform {
  let isOver = false
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      met.received += bytes.length
      const pass = (): void => done(null, bytes)
      if (typeof mishap !== 'object' || isOver) return pass()
      if ('breaksAt' in mishap && met.received >= mishap.breaksAt) {
        isOver = true
        incoming.socket.destroy()
        mishap.meanwhile()
      }
      if (!('waitsAt' in mishap) || met.received < mishap.waitsAt) return pass()
      isOver = true
      mishap.meanwhile().then(pass, done)
    },
  })
}

async function cut(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  { cutAfter, meanwhile }: Extract<Mishap, { readonly cutAfter: number }>,
): Promise<void> {
  let left = cutAfter
  // Destroyed at once, the answer would take the connection to the client with it before `meanwhile` is done.
  const chunks: AsyncIterable<Buffer> = answer.iterator({ destroyOnReturn: false })
  for await (const chunk of chunks) {
    const part = chunk.subarray(0, left)
    left -= part.length
    await new Promise((resolve) => {
      outgoing.write(part, resolve)
    })
    if (left === 0) break
  }
  await meanwhile?.()
  outgoing.socket?.end()
  outgoing.destroy()
}
