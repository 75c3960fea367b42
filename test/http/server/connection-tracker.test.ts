import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { trackConnections } from '../../../src/http/server/connection-tracker.ts'

it('tells when a connection was accepted or an answer was over last', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => asked.resolve(response))
  onTestFinished(() => void server.close())
  const connections = trackConnections(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  expect(connections.lastChangedAt()).toBe(Number.NEGATIVE_INFINITY)

  const { port } = server.address() as AddressInfo
  const answered = fetch(`http://127.0.0.1:${port}`)
  const response = await asked.promise
  const acceptedAt = connections.lastChangedAt()
  expect(performance.now() - acceptedAt).toBeLessThan(10_000)
  await delay(5)
  expect(connections.lastChangedAt()).toBe(acceptedAt)
  response.end()
  await once(response, 'close')
  await answered
  expect(connections.lastChangedAt()).toBeGreaterThan(acceptedAt)
})
