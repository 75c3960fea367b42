import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

/** What happens to a request on its way. */
export type Mishap =
  | { readonly status: 429 | 503; readonly retryAfter: number }
  /** Nobody answers. */
  | 'lost'
  /** The service answers, and the connection is lost before the first byte of its answer. */
  | 'unanswered'
  /** The connection is lost when that many bytes of the content have gone to the client; then `meanwhile` is done. */
  | { readonly cutAfter: number; readonly meanwhile?: () => Promise<unknown> }

export interface Met {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** When it came, in milliseconds by a clock of its own. */
  readonly at: number
}

/** A network before the service on `port`, in which the next requests meet with these mishaps, one each, in order. */
export interface BadNetwork {
  readonly url: string
  readonly mishaps: Mishap[]
  /** What has come so far. */
  readonly requests: Met[]
  stop(): Promise<void>
}

export async function startBadNetwork({ port }: { readonly port: number }): Promise<BadNetwork> {
  const mishaps: Mishap[] = []
  const requests: Met[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', headers } = incoming
    requests.push({ method, headers, at: performance.now() })
    const mishap = mishaps.shift()
    if (mishap === 'lost') incoming.socket.destroy()
    else if (typeof mishap === 'object' && 'status' in mishap) refuse(incoming, outgoing, mishap)
    else forward({ incoming, outgoing, port, mishap })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mishaps,
    requests,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, retryAfter }: { readonly status: number; readonly retryAfter: number },
): void {
  const code = status === 429 ? 'too_many_requests' : 'unavailable'
  const headers = { 'content-type': 'application/problem+json', 'retry-after': `${retryAfter}` }
  incoming.resume().once('end', () => {
    outgoing.writeHead(status, headers).end(JSON.stringify({ status, code }))
  })
}

interface Forwarded {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly port: number
  readonly mishap: Exclude<Mishap, 'lost' | { readonly status: number }> | undefined
}

function forward({ incoming, outgoing, port, mishap }: Forwarded): void {
  const { method, url: path, headers } = incoming
  // Answered here already.
  const { expect: _expect, ...others } = headers
  const asked = httpRequest({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: others,
    agent: false,
  })
  asked.once('response', (answer) => {
    if (mishap === 'unanswered') {
      outgoing.destroy()
      return
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.once('error', () => outgoing.destroy())
    if (mishap === undefined) answer.pipe(outgoing)
    else void cut(answer, outgoing, mishap)
  })
  asked.once('error', () => outgoing.destroy())
  outgoing.once('close', () => asked.destroy())
  incoming.pipe(asked)
}

async function cut(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  { cutAfter, meanwhile }: Exclude<NonNullable<Forwarded['mishap']>, string>,
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
