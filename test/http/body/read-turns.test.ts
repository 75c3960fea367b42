import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Connections } from '../../../src/http/server/connections.ts'
import { createBareListener } from '../server/bare-listener.ts'

const CHUNKED = 'PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const SMALL_CHUNKS = `${CHUNKED}${'1\r\nA\r\n'.repeat(10_000)}0\r\n\r\n`
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

let app: FastifyInstance
let connections: Connections
/** As the server has them. */
let sockets: Socket[]
/** Called when a handler begins. */
let onHandler: () => void
/** Called before each read of a body. */
let onChunk: () => Promise<void>
const clients: Socket[] = []

beforeEach(async () => {
  sockets = []
  onHandler = () => {}
  onChunk = async () => {}
  connections = new Connections()
  app = await createBareListener({ connections })
  app.server.on('connection', (socket) => sockets.push(socket))
  app.get('/', async () => 'here')
  // More than the kernel takes.
  app.get('/large', async () => Buffer.alloc(16 * 2 ** 20))
  app.put('/', async ({ raw, reads }) => {
    onHandler()
    reads?.resume()
    let bytes = 0
    for await (const chunk of raw as AsyncIterable<Buffer>) {
      bytes += chunk.length
      await onChunk()
    }
    return String(bytes)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  app.server.closeAllConnections()
  await app.close()
})

/** Opens a connection that has had an answer. */
async function openIdle(): Promise<Socket> {
  const { port } = app.server.address() as AddressInfo
  const client = connect(port, '127.0.0.1').on('error', () => {})
  clients.push(client)
  await exchange(client, GET)
  return client
}

async function exchange(client: Socket, text: string | Buffer): Promise<string> {
  client.write(text)
  const [answer] = (await once(client, 'data')) as [Buffer]
  return answer.toString()
}

/** Several are read in one event-loop iteration: only the next request tells how long the one before took. */
async function startSlicing(): Promise<void> {
  const idle = await Promise.all(Array.from({ length: 10 }, openIdle))
  const replies = await Promise.all(idle.map((client) => exchange(client, SMALL_CHUNKS)))
  for (const reply of replies) expect(reply).toContain('10000')
  for (const socket of sockets) expect(socket.listenerCount('readable')).toBeGreaterThan(0)
}

it.each([
  ['of small chunks', SMALL_CHUNKS, 60],
  ['of many requests', GET.repeat(2_300), 5_000],
])(
  'after expensive reads %s, few requests begin in one event-loop iteration',
  async (_, text, most) => {
    const idle = await Promise.all(Array.from({ length: 200 }, openIdle))
    const perTurn: number[] = [0]
    app.server.on('request', () => (perTurn[0] = (perTurn[0] ?? 0) + 1))
    const ended = new Set<Socket>()
    for (const client of idle) {
      const end = (): void => void ended.add(client)
      client.once('data', end).once('close', end).write(text)
    }
    while (ended.size < idle.length) {
      await setImmediate()
      perTurn.unshift(0)
    }
    expect(Math.max(...perTurn)).toBeLessThan(most)
    expect(perTurn.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(200)
  },
)

it('what handlers do between ordinary requests in chunks starts no slicing', async () => {
  onHandler = () => {
    for (const until = performance.now() + 10; performance.now() < until;);
  }
  const idle = await Promise.all(Array.from({ length: 5 }, openIdle))
  const replies = idle.map((client) => exchange(client, `${CHUNKED}2\r\nAB\r\n0\r\n\r\n`))
  expect(await Promise.all(replies)).toHaveLength(5)
  expect(sockets.map((socket) => socket.listenerCount('readable'))).toEqual([0, 0, 0, 0, 0])
})

it('a sliced body is received whole, and no faster than it is read', async () => {
  const client = await openIdle()
  await startSlicing()
  const [socket] = sockets
  const released = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  onChunk = () => {
    first.resolve()
    return released.promise
  }
  const body = Buffer.alloc(4 * 2 ** 20, 'x')
  client.write(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
  const answer = exchange(client, body)
  await first.promise
  for (let at = 0; at < 20; at++) await exchange(await openIdle(), GET)
  // The buffers of the request and of the connection, and what the kernel gave before reading stopped.
  expect(socket?.bytesRead).toBeLessThan(512 * 1024)
  released.resolve()
  expect(await answer).toContain(String(body.length))
})

it('a sliced body behind a complete answer is not read before its turn', async () => {
  const client = (await openIdle()).pause()
  await startSlicing()
  client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(client, 'readable')
  const body = Buffer.alloc(4 * 2 ** 20, 'x')
  client.write(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
  client.write(body)
  for (let at = 0; at < 50; at++) await exchange(await openIdle(), GET)
  const [socket] = sockets
  expect(socket?.bytesRead).toBeGreaterThan(1024)
  expect(socket?.bytesRead).toBeLessThan(512 * 1024)
  let last = ''
  client.setEncoding('latin1').on('data', (text: string) => (last = `${last}${text}`.slice(-100)))
  await expect.poll(() => last).toContain(`\r\n\r\n${body.length}`)
})

it('the end of slicing restarts no connection that waits for its reader', async () => {
  const client = await openIdle()
  const [socket] = sockets
  if (socket === undefined) throw new TypeError('The connection is there')
  const reached = Promise.withResolvers<void>()
  onChunk = () => {
    reached.resolve()
    return new Promise(() => {})
  }
  client.write(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${4 * 2 ** 20}\r\n\r\n`)
  client.write(Buffer.alloc(4 * 2 ** 20))
  await reached.promise
  for (let at = 0; at < 5; at++) await exchange(await openIdle(), GET)
  const before = socket.bytesRead
  const reads = connections.reads.of(socket)
  for (let at = 0; at < 10; at++) {
    reads?.slice()
    await setImmediate()
    reads?.unslice()
    await exchange(await openIdle(), GET)
  }
  // What the kernel gave before it stopped again.
  expect(socket.bytesRead - before).toBeLessThanOrEqual(64 * 1024)
})

it('an idle connection keeps nothing of its last request', async () => {
  const requests: WeakRef<object>[] = []
  app.server.on('request', (request) => requests.push(new WeakRef(request)))
  const client = await openIdle()
  await exchange(client, `${CHUNKED}2\r\nAB\r\n0\r\n\r\n`)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await expect
    .poll(() => {
      collect()
      return requests.filter((request) => request.deref() !== undefined).length
    })
    .toBe(0)
  expect(sockets[0]?.destroyed).toBe(false)
})
