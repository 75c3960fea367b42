import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Answer {
  readonly type: string
  readonly content: string
}

/** A product with pages of its own and the service under one origin, as docs/cors.md has it. */
export interface Front {
  readonly url: string
  /** What it answers by itself, by path. */
  readonly pages: Map<string, Answer>
  /** By method what it answers 503 with, with these headers, when the request's body has come. */
  readonly refusals: Map<string, OutgoingHttpHeaders>
  /** The heads of the requests that it passed on. */
  readonly passedOn: readonly IncomingMessage[]
  stop(): Promise<void>
}

/** Has an empty page at `/page`; all it does not know it asks the service on `port`. */
export async function startFront({ port }: { readonly port: number }): Promise<Front> {
  const pages = new Map([['/page', { type: 'text/html', content: '<!doctype html><body></body>' }]])
  const refusals = new Map<string, OutgoingHttpHeaders>()
  const passedOn: IncomingMessage[] = []
  const server = createServer((incoming, outgoing) => {
    const page = pages.get(incoming.url ?? '')
    const refusal = refusals.get(incoming.method ?? '')
    if (refusal !== undefined) {
      incoming.resume().once('end', () => outgoing.writeHead(503, refusal).end())
    } else if (page === undefined) {
      passedOn.push(incoming)
      forward(incoming, outgoing, port)
    } else outgoing.writeHead(200, { 'content-type': page.type }).end(page.content)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    pages,
    refusals,
    passedOn,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method, url: path, headers } = incoming
  const asked = httpRequest({ host: '127.0.0.1', port, method, path, headers })
  asked.once('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.once('error', () => outgoing.destroy())
    answer.pipe(outgoing)
  })
  asked.once('error', () => outgoing.destroy())
  outgoing.once('close', () => asked.destroy())
  incoming.pipe(asked)
}
