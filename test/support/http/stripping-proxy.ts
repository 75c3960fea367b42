import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy that publishes a service below a path, and removes this path from what it forwards. */
export interface StrippingProxy {
  /** With the path. */
  readonly url: string
  /** Forwards to this port from now on. */
  forwardTo(port: number): void
  /** The paths that were asked for outside of its own. */
  readonly strays: readonly string[]
  stop(): Promise<void>
}

export async function startStrippingProxy(path: string): Promise<StrippingProxy> {
  let target = 0
  const strays: string[] = []
  const server = createServer((asked, answer) => {
    const { url = '', method, headers } = asked
    if (!url.startsWith(path)) {
      strays.push(url)
      answer.writeHead(404).end()
      return
    }
    const forwarded = request({
      host: '127.0.0.1',
      port: target,
      path: url.slice(path.length) || '/',
      method,
      // As most proxies do unless they are told to keep it.
      headers: { ...headers, host: `127.0.0.1:${target}` },
    })
    forwarded.on('response', (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(answer)
    })
    forwarded.on('error', () => answer.destroy())
    answer.on('close', () => forwarded.destroy())
    asked.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}${path}`,
    forwardTo(port) {
      target = port
    },
    strays,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
