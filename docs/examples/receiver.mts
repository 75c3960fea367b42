// receiver.mts: node receiver.mts, with WEBHOOK_SECRET in the environment
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const webhook = new Webhook(process.env['WEBHOOK_SECRET'] ?? '')

const server = createServer(async (request, response) => {
  try {
    const headers = request.headers as Record<string, string>
    const event = webhook.verify(await text(request), headers)
    console.log(JSON.stringify(event)) // Store it here, before the answer.
    response.writeHead(204).end()
  } catch (error) {
    const isForged = error instanceof WebhookVerificationError
    response.writeHead(isForged ? 400 : 500).end()
  }
})

const port = Number(process.env['PORT'] ?? 8080)
server.listen(port, () => console.error(`Waiting for events on port ${port}.`))
