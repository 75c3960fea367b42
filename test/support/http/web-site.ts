import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A site on the loopback, whose pages a browser opens as those of two hosts: one of the service's site, and another.
 */
export interface WebSite {
  readonly port: number
  /** `http://127.0.0.1:port`: to a service on 127.0.0.1 another origin of the same site. */
  readonly sameSite: string
  /** `http://localhost:port`: to such a service another site. */
  readonly crossSite: string
  /** Path and query of each request so far. */
  readonly visits: string[]
  /** The cookies that came with each. */
  readonly cookies: string[]
  stop(): Promise<void>
}

/** Serves the same page under every path, with cookies that it plants. */
export async function startWebSite(
  page: string,
  cookies: readonly string[] = [],
): Promise<WebSite> {
  const visits: string[] = []
  const sent: string[] = []
  const server = createServer((request, response) => {
    visits.push(request.url ?? '')
    sent.push(request.headers.cookie ?? '')
    request.resume()
    // Whoever asks may read it, so that only the service can be what keeps a script from running.
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (cookies.length > 0) response.setHeader('set-cookie', cookies)
    response.end(page)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    sameSite: `http://127.0.0.1:${port}`,
    crossSite: `http://localhost:${port}`,
    visits,
    cookies: sent,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
