import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBareListener } from './bare-listener.ts'
import { rawRequest } from '../../support/http/raw-http.ts'

const GET = 'GET /other HTTP/1.1\r\nHost: x\r\n\r\n'
const PUT = `PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`

let app: FastifyInstance
let port: number
let begun: string[]
/** As the server has them. */
let sockets: Socket[]
const clients: Socket[] = []

beforeEach(async () => {
  begun = []
  sockets = []
  app = await createBareListener()
  app.server.on('connection', (socket) => sockets.push(socket))
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

function open(options = {}): Socket {
  const client = connect({ port, host: '127.0.0.1', ...options }).on('error', () => {})
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

const MIB = 1024 * 1024

const FIRST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

it.each([
  ['a request', GET],
  ['some requests', GET.repeat(50)],
  ['a request with a body', PUT],
  ['what is no request', 'none\r\n'],
])('a client that reads slowly gets a whole answer in spite of %s behind it', async (_, behind) => {
  const content = Buffer.alloc(1_000_000, 'x')
  const held = heldAnswer()
  await listen()
  const client = open().pause()
  client.write(`${FIRST}${behind}`)
  const { reply } = await held
  client.write(behind)
  void reply.send(content)
  await once(reply.raw, 'close')
  // Until the connection would have been closed.
  await rawRequest({ port, send: [GET] })
  await rawRequest({ port, send: [GET] })

  let answer = ''
  for await (const chunk of client.setEncoding('latin1') as AsyncIterable<string>) answer += chunk
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
  expect(head).toMatch(/^HTTP\/1\.1 200 /)
  expect(body).toHaveLength(content.length)
})

it('a connection closes at once if too many requests are pipelined, and is read no further', async () => {
  void heldAnswer()
  await listen()
  const client = open()
  client.write(FIRST)
  const send = (): void => {
    while (client.writable && client.write(GET.repeat(1_000)));
  }
  client.on('drain', send).once('connect', send)
  await new Promise((resolve) => client.once('close', resolve))
  expect(sockets[0]?.bytesRead).toBeLessThan(256 * 1024)
})

it('a connection with a pipelined request is read no further (H08)', async () => {
  const held = heldAnswer()
  await listen()
  const client = open()
  client.write(`${FIRST}${GET}`)
  const { reply } = await held
  for (let at = 0; at < 20; at += 1) {
    client.write(GET)
    await rawRequest({ port, send: [GET] })
  }
  const [socket] = sockets
  expect(socket?.bytesRead).toBe(FIRST.length + GET.length)
  void reply.send('first')
  const [answer] = (await once(client, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 [^]*first$/)
})

it('a request that arrives once the answer is complete is answered after it (H08)', async () => {
  // More than the kernel takes.
  const content = 'x'.repeat(16 * MIB)
  app.get('/', () => content)
  await listen()
  const client = open().setEncoding('latin1').pause()
  client.write(FIRST)
  await once(client, 'readable')
  client.write(GET)
  while (sockets[0]?.bytesRead !== FIRST.length + GET.length)
    await rawRequest({ port, send: [GET] })
  let answers = ''
  client.on('data', (text: string) => (answers += text))
  await expect.poll(() => answers.slice(-100)).toMatch(/other$/)
  const [, first] = answers.split('HTTP/1.1 200 ')
  expect(first?.endsWith(`\r\n\r\n${content}`)).toBe(true)
  client.write(GET)
  await expect.poll(() => answers.slice(-500)).toMatch(/other[^]*other$/)
})

it('none of several requests that arrive once the answer is complete is begun (H08)', async () => {
  app.get('/', () => 'x'.repeat(16 * MIB))
  app.get('/behind', () => 'behind')
  await listen()
  const client = open().pause()
  client.write(FIRST)
  await once(client, 'readable')
  client.write('GET /behind HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50))
  while ((sockets[0]?.bytesRead ?? 0) <= FIRST.length) await rawRequest({ port, send: [GET] })
  await once(client.resume(), 'end')
  await rawRequest({ port, send: [GET] })
  expect(begun).not.toContain('GET /behind')
})

it('a request that arrives once the last answer of a connection is complete is ignored', async () => {
  app.get('/', (_request, reply) => {
    void reply.header('Connection', 'close').send('x'.repeat(16 * MIB))
  })
  await listen()
  const client = open().pause()
  client.write(FIRST)
  await once(client, 'readable')
  client.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n')
  await rawRequest({ port, send: [GET] })
  await rawRequest({ port, send: [GET] })
  await once(client.resume(), 'close')
  await rawRequest({ port, send: [GET] })
  expect(begun).not.toContain('PUT /')
})

it('the first of many answered connections with unread requests stay open, no others', async () => {
  app.get('/', () => 'first')
  await listen()
  for (let at = 0; at < 101; at += 1) {
    // Otherwise the client would close its side too.
    const client = open({ allowHalfOpen: true }).resume()
    client.write(`${FIRST}${GET}`)
    await once(client, 'end')
  }
  const last = sockets.at(-1)
  if (last?.closed === false) await once(last, 'close')
  expect(sockets.filter(({ closed }) => !closed)).toHaveLength(100)
})

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
  // Both are read in one iteration of the event loop, in this order.
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
