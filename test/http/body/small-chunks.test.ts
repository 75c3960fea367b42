import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RequestBody } from '../../../src/http/body/request-body.ts'
import { createBareListener } from '../server/bare-listener.ts'
import { rawRequest } from '../../support/http/raw-http.ts'

const BLOCK = '1\r\nA\r\n'.repeat(10_900)
/** What one read of a connection takes, and what the kernel adds before the reading stops. */
const FIRST_READS = 50_000

let app: FastifyInstance
let port: number
/** As the server has them. */
let sockets: Socket[]
/** By the check of a body. */
let seenChunks: number
const clients: Socket[] = []

beforeEach(async () => {
  sockets = []
  seenChunks = 0
  app = await createBareListener()
  app.server.on('connection', (socket) => sockets.push(socket))
  app.get('/', async () => 'here')
  app.put('/', async (request) => {
    let bytes = 0
    const check = {
      write: (chunk: Buffer) => {
        bytes += chunk.length
        seenChunks += 1
      },
      end: () => {},
    }
    const { signal } = new AbortController()
    await new RequestBody({ request, check, signal, idleTimeoutMs: 60_000 }).ended
    return String(bytes)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  app.server.closeAllConnections()
  await app.close()
})

/** Sends chunks of one byte for as long as they are taken. */
function flood(head: string): Socket {
  const client = connect(port, '127.0.0.1').on('error', () => {})
  clients.push(client)
  client.write(`${head} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
  const send = (): void => {
    while (client.writable && client.write(BLOCK));
  }
  client.on('drain', send).once('connect', send)
  return client
}

function chunksRead(): number {
  return sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0) / 6
}

test('a body in chunks of one byte comes whole, in few pieces', async () => {
  const head = 'PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  const reply = await rawRequest({ port, send: [head, `${BLOCK}0\r\n\r\n`] })
  expect({ status: reply.status, body: reply.body.toString() }).toEqual({
    status: 200,
    body: '10900',
  })
  expect(seenChunks).toBeLessThan(100)
})

test('the next request of its connection is answered', async () => {
  const put = 'PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  const client = connect(port, '127.0.0.1')
  clients.push(client)
  client.write(`${put}${BLOCK}0\r\n\r\n`)
  const [first] = (await once(client, 'data')) as [Buffer]
  expect(first.toString()).toContain('10900')
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [second] = (await once(client, 'data')) as [Buffer]
  expect(second.toString()).toMatch(/^HTTP\/1.1 200[^]*here$/)
})

test('all connections together are read no faster than small chunks may cost', async () => {
  const began = performance.now()
  for (let at = 0; at < 8; at += 1) flood('PUT /')
  while (sockets.length < 8) await once(app.server, 'connection')
  for (let at = 0; at < 100; at += 1) {
    const send = ['GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n']
    expect((await rawRequest({ port, send })).status).toBe(200)
  }
  const seconds = (performance.now() - began) / 1000
  expect(chunksRead()).toBeLessThan(8 * FIRST_READS + 40_000 * seconds)
})

test('few small chunks of a refused body are read before the connection closes', async () => {
  const client = flood('POST /nothing').resume()
  await new Promise((resolve) => client.once('close', resolve))
  expect(chunksRead()).toBeLessThan(32_768 + FIRST_READS)
})
