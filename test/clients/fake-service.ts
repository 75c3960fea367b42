import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that answers each request in this way. */
export async function startFakeService(
  answer: (...exchange: Parameters<RequestListener>) => unknown,
) {
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The query parameter `cursor` of a request for changes. */
export function cursorOf(url = ''): string | null {
  return new URL(url, 'http://service').searchParams.get('cursor')
}
