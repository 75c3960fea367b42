import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import { createWebhookSender } from '../../src/webhooks/sender.ts'
import { freePort } from '../support/servers/local-server.ts'
import { startWebhookReceiver, WEBHOOK_SECRET } from '../support/servers/webhook-receiver.ts'

const OTHER_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
const EVENT = { id: 'msg_1', body: '{"type":"file.created","data":{"name":"ä"}}' }
const NEVER = new AbortController().signal

const keyOf = (secret: string) => Buffer.from(secret.replace('whsec_', ''), 'base64')
const SECRETS = [WEBHOOK_SECRET, OTHER_SECRET].map(keyOf)

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

async function sendTo(answer?: (response: ServerResponse) => unknown, timeoutMs?: number) {
  const receiver = opened.use(await startWebhookReceiver(answer))
  const sender = createWebhookSender({
    ...receiver,
    secrets: SECRETS,
    ...(timeoutMs && { timeoutMs }),
  })
  return { delivery: await sender.send(EVENT, NEVER), receiver }
}

/** A receiver that answers each request on its connection with bytes, and never ends a connection itself. */
async function listenRaw(answer: (socket: Socket) => unknown, timeoutMs?: number) {
  const seen = { requests: 0, open: 0 }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    seen.open += 1
    socket.once('close', () => (seen.open -= 1))
    socket.on('data', (bytes) => {
      if (!bytes.includes(EVENT.body)) return
      seen.requests += 1
      answer(socket)
    })
  })
  opened.defer(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const sender = createWebhookSender({ url, secrets: SECRETS, ...(timeoutMs && { timeoutMs }) })
  return { sender, seen }
}

describe('an event', () => {
  it.each([WEBHOOK_SECRET, OTHER_SECRET])(
    'is verified by the library of Standard Webhooks with each secret',
    async (secret) => {
      const { delivery, receiver } = await sendTo()
      expect(delivery).toEqual({ isDelivered: true })
      const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
      const given = Object.fromEntries(names.map((name) => [name, String(headers[name])]))
      expect(new Webhook(secret).verify(body, given)).toEqual(JSON.parse(EVENT.body))
      expect(() => new Webhook(secret).verify(`${body} `, given)).toThrow(/signature/i)
      expect(headers).toMatchObject({
        'webhook-id': 'msg_1',
        'content-type': 'application/json',
        'accept-encoding': 'identity',
      })
    },
  )

  it.each([
    [302, { location: 'http://127.0.0.1:1/' }],
    [404, {}],
    [503, {}],
  ])('an event that gets %i is not delivered, and follows no redirect', async (status, headers) => {
    const { delivery, receiver } = await sendTo((response) =>
      response.writeHead(status, headers).end(),
    )
    const reason = `The receiver answered ${status}.`
    expect(delivery).toEqual({ isDelivered: false, reason, retryAfterMs: undefined })
    expect(receiver.received).toHaveLength(1)
  })

  it.each([
    ['120', 120_000],
    [new Date(Date.now() + 60_000).toUTCString(), 60_000],
    ['soon', undefined],
    ['-5', undefined],
  ])('is told when to come again by Retry-After: %s', async (value, ms) => {
    const { delivery } = await sendTo((response) =>
      response.writeHead(429, { 'retry-after': value }).end(),
    )
    const { retryAfterMs } = delivery as { retryAfterMs?: number }
    // A date is in whole seconds, and some time has passed.
    expect(retryAfterMs && Math.round(retryAfterMs / 5_000)).toBe(ms && Math.round(ms / 5_000))
  })

  it('is delivered by a 2xx, however long the answer is', async () => {
    let isCut = false
    const { delivery } = await sendTo((response) => {
      response.once('close', () => (isCut = !response.writableFinished))
      const chunk = Buffer.alloc(65_536)
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', write)
      }
      write()
    })
    expect(delivery).toEqual({ isDelivered: true })
    await expect.poll(() => isCut).toBe(true)
  })

  it('is delivered by a 2xx whose content is compressed, which is left unread', async () => {
    const { delivery } = await sendTo((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('{'))
    })
    expect(delivery).toEqual({ isDelivered: true })
  })

  it.each([
    ['200 OK', 'Content-Length: 10', 'ok'],
    ['204 No Content', 'Connection: keep-alive', ''],
    ['200 OK', 'Transfer-Encoding: chunked', '2\r\nok\r\n'],
    ['202 Accepted', 'Transfer-Encoding: chunked', '2\r\nok\r\n0\r\nTrailer: without an end'],
    ['200 OK', 'Content-Encoding: gzip\r\nContent-Length: 10', 'ok'],
    ['200 OK', 'Transfer-Encoding: chunked', 'no chunk\r\n'],
    ['201 Created', 'Content-Type: text/plain', 'until the connection ends'],
    ['503 Service Unavailable', 'Content-Length: 10', 'ok'],
    ['302 Found', 'Location: /again\r\nContent-Length: 10', 'ok'],
  ])('is decided by %s with %s, if the answer ends with %j', async (status, header, content) => {
    const head = `HTTP/1.1 ${status}\r\n${header}\r\n\r\n`
    const { sender, seen } = await listenRaw((socket) => socket.write(head + content))
    const startedAt = performance.now()
    const first = await sender.send(EVENT, NEVER)
    const second = await sender.send(EVENT, NEVER)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    for (const { isDelivered } of [first, second]) expect(isDelivered).toBe(status.startsWith('2'))
    expect(seen.requests).toBe(2)
    await expect.poll(() => seen.open > 0).toBe(status.startsWith('204'))
  })

  it('is decided by the last head, after others that are provisional', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
    const { sender } = await listenRaw((socket) =>
      socket.write(`${early.repeat(50)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`),
    )
    expect(await sender.send(EVENT, NEVER)).toEqual({ isDelivered: true })
  })

  it.each([
    ['is provisional without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['does not end', 'HTTP/1.1 200 OK\r\nX: y'],
  ])('is not delivered if the head %s', async (_how, piece) => {
    const { sender, seen } = await listenRaw((socket) => {
      const timer = setInterval(() => socket.write(piece), 20)
      socket.once('close', () => clearInterval(timer))
    }, 200)
    expect(await sender.send(EVENT, NEVER)).toMatchObject({ isDelivered: false })
    await expect.poll(() => seen).toEqual({ requests: 1, open: 0 })
  })

  it('is delivered if the service stops while the content of the answer is still to come', async () => {
    const stop = new AbortController()
    const { sender } = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok')
      setTimeout(() => stop.abort(new Error('stopping')), 50)
    })
    expect(await sender.send(EVENT, stop.signal)).toEqual({ isDelivered: true })
  })

  it('is not delivered to a receiver that does not answer in time, or that is not there', async () => {
    expect((await sendTo(() => undefined, 50)).delivery).toMatchObject({
      isDelivered: false,
      reason: 'The receiver did not answer in time.',
    })
    const url = `http://127.0.0.1:${await freePort()}/`
    expect(await createWebhookSender({ url, secrets: SECRETS }).send(EVENT, NEVER)).toMatchObject({
      isDelivered: false,
      reason: expect.stringMatching(/not reached: .*ECONNREFUSED/) as string,
    })
  })

  it('is given up when the service stops', async () => {
    const receiver = opened.use(await startWebhookReceiver(() => undefined))
    const stop = new AbortController()
    const sending = createWebhookSender({ ...receiver, secrets: SECRETS }).send(EVENT, stop.signal)
    stop.abort(new Error('stopping'))
    await expect(sending).rejects.toThrow('stopping')
  })
})
