import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestService } from '../../support/service/test-service.ts'
import { ask, type OpenService } from '../fixture.ts'

const IDLE_SOCKETS = 1000

/** Long enough for the connections to be made. */
const HEAD_TIMEOUT_MS = 2_000

/** Connections whose requests come late, or never. */
export function slowHeadsSuite(open: OpenService): void {
  describe('slow heads', () => {
    let service: TestService
    const sockets: Socket[] = []

    beforeAll(async () => {
      service = await open({ headTimeoutMs: HEAD_TIMEOUT_MS })
    })

    afterAll(async () => {
      for (const socket of sockets) socket.destroy()
      await service.stop()
    })

    it(`H04: slow heads and ${IDLE_SOCKETS} silent connections are closed in time and block nobody`, async () => {
      const idle = await connections(IDLE_SOCKETS)
      const [slow, silent] = await connections(2)
      if (slow === undefined || silent === undefined) throw new Error('There are two')
      const answered = textOf(slow)
      slow.write('GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ')
      const drip = setInterval(() => slow.write('x'), HEAD_TIMEOUT_MS / 10)
      silent.write('GET /livez HTTP/1.1\r\n')
      expect((await ask(service, { path: '/livez' })).status).toBe(200)
      const isOver = () => [slow, silent, ...idle].filter((socket) => !socket.closed).length
      await expect.poll(isOver, { timeout: 30_000, interval: 50 }).toBe(0)
      clearInterval(drip)
      expect(await answered).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/)
      expect((await ask(service, { path: '/livez' })).status).toBe(200)
    })

    async function connections(count: number): Promise<Socket[]> {
      const made: Socket[] = []
      for (let at = 0; at < count; at += 1) {
        const socket = connect({ port: service.port, host: '127.0.0.1' })
        socket.on('error', () => {})
        await once(socket, 'connect')
        socket.resume()
        sockets.push(socket)
        made.push(socket)
      }
      return made
    }
  })
}

/** All that comes until the connection closes. */
async function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1')
  })
  await once(socket, 'close')
  return text
}
