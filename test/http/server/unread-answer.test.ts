import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createBareListener } from './bare-listener.ts'
import type { ListenerTimeouts } from '../../../src/http/server/listener.ts'

/** More than the buffers of both kernels. */
const LARGE = 'x'.repeat(12 * 2 ** 20)

async function listen(timeouts: ListenerTimeouts = {}) {
  const app = await createBareListener({ timeouts })
  onTestFinished(() => app.server.closeAllConnections())
  app.get('/large', () => LARGE)
  app.get('/shared', () => SHARED)
  app.get('/small', () => 'small')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { app, port }
}

const SHARED = Buffer.from(LARGE)

function ask(port: number, path: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  return socket
}

/** Reads no more than the beginning. */
async function statusOf(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return chunk.toString('latin1').slice(9, 12)
}

it('the connection of a client that reads nothing of its answer ends', async () => {
  const { app, port } = await listen({ readerTimeoutMs: 200 })
  const closed = new Promise((resolve) => {
    app.server.once('request', (_request, response) => response.once('close', resolve))
  })
  const socket = ask(port, '/large').pause()
  await closed
  const read = await readAll(socket)
  expect(read).toBeLessThan(LARGE.length)
})

it('a client that goes on reading gets all of its answer, however slowly', async () => {
  const { port } = await listen({ readerTimeoutMs: 500 })
  const socket = ask(port, '/large')
  let read = 0
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 10)
    if (read > LARGE.length) socket.end()
  })
  await once(socket, 'close')
  expect(read).toBeGreaterThan(LARGE.length)
})

it.each(['/small', '/%', '/none'])('the answer to %s has the time limit too', async (path) => {
  const { app, port } = await listen({ readerTimeoutMs: 12_345 })
  const timeout = new Promise((resolve) => {
    app.server.prependOnceListener('request', (_request, response) => {
      response.once('prefinish', () => resolve(response.socket?.timeout))
    })
  })
  ask(port, path)
  expect(await timeout).toBe(12_345)
})

it('unread answers to one address hold a limited amount of memory, and none once they are read', async () => {
  const { port } = await listen()
  const first = ask(port, '/large')
  expect(await statusOf(first)).toBe('200')
  expect(await statusOf(ask(port, '/large'))).toBe('429')
  expect(await statusOf(ask(port, '/small'))).toBe('200')
  first.resume()
  await expect.poll(() => statusOf(ask(port, '/large'))).toBe('200')
})

it('what is sent from shared memory counts for nobody', async () => {
  const { port } = await listen()
  for (let times = 0; times < 3; times++) {
    expect(await statusOf(ask(port, '/shared'))).toBe('200')
  }
})

async function readAll(socket: Socket): Promise<number> {
  let read = 0
  socket.on('data', (chunk: Buffer) => (read += chunk.length)).resume()
  if (!socket.closed) await once(socket, 'close')
  return read
}
