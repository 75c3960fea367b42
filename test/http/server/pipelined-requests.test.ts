import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createListener } from '../../../src/http/server/listener.ts'
import { rawRequest } from '../../support/http/raw-http.ts'

const GET = 'GET /other HTTP/1.1\r\nHost: x\r\n\r\n'

let app: FastifyInstance
let port: number
let begun: string[]
const clients: Socket[] = []

beforeEach(async () => {
  begun = []
  app = await createListener({
    logger: undefined,
    trustedProxies: [],
    stopping: new AbortController().signal,
  })
  app.addHook('onRequest', async ({ method, url }) => void begun.push(`${method} ${url}`))
  app.get('/other', () => 'other')
  app.put('/', () => 'put')
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  app.server.closeAllConnections()
  await app.close()
})

async function listen(): Promise<void> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
}

function open(): Socket {
  const client = connect({ port, host: '127.0.0.1' }).on('error', () => {})
  clients.push(client)
  return client
}

/** A route that answers when the test does. Wrapped, because a reply is a promise of its end. */
function heldAnswer(): Promise<{ readonly reply: FastifyReply }> {
  return new Promise((resolve) => {
    app.get('/', (_request, reply) => {
      resolve({ reply })
    })
  })
}

const FIRST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

it('a request that arrives between the answer and the end of its connection is ignored', async () => {
  const held = heldAnswer()
  const answers: FastifyReply[] = []
  app.get('/end', () => {
    for (const reply of answers) void reply.send('first')
    return 'end'
  })
  await listen()
  const client = open()
  client.write(`${FIRST}${GET}`)
  answers.push((await held).reply)
  const other = open()
  other.write(GET)
  await once(other, 'data')
  // Both are read in one turn, in this order.
  other.write('GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  client.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nx')
  await once(other.resume(), 'close')
  await rawRequest({ port, send: [GET] })
  expect(begun).toEqual(['GET /', 'GET /other', 'GET /end', 'GET /other'])
})

it('the error of a request whose reader has left is handled', async () => {
  const left = new Promise<void>((resolve) => {
    app.put('/left', ({ raw }) => {
      const read = (): void => {}
      const leave = (): void => void raw.off('error', read)
      raw.on('error', read)
      // By then Node has decided to emit it, because it has a listener.
      raw.once('aborted', () => process.nextTick(() => process.nextTick(leave)))
      raw.once('close', resolve)
      return new Promise(() => {})
    })
  })
  await listen()
  const client = open()
  client.write('PUT /left HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nx')
  while (begun.length === 0) await rawRequest({ port, send: [GET] })
  client.resetAndDestroy()
  await left
  expect((await rawRequest({ port, send: [GET] })).status).toBe(200)
})
