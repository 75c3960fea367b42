import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string
  /** In the order of their arrival. */
  readonly received: readonly Received[]
}

/** A new secret of 32 bytes, as the setting has it. */
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Answers each request as `answer` does; 204 by default. */
export async function startWebhookReceiver(
  answer: (response: ServerResponse, received: Received) => unknown = (response) =>
    response.writeHead(204).end(),
): Promise<WebhookReceiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const one = { headers: request.headers, body }
      received.push(one)
      return answer(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
