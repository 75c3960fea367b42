import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { Connections } from '../../../src/http/server/connections.ts'
import type { RequestMeter } from '../../../src/http/server/request-outcome.ts'
import { createBareListener } from './bare-listener.ts'

async function listen(connections: Connections) {
  const app = await createBareListener({ connections })
  onTestFinished(() => void app.close())
  return app
}

it('tells when a connection was accepted or an answer was over last', async () => {
  const connections = new Connections()
  const app = await listen(connections)
  const asked = Promise.withResolvers<ServerResponse>()
  app.get('/', (_request, { raw }) => asked.resolve(raw))
  await app.listen({ host: '127.0.0.1', port: 0 })
  expect(connections.lastChangedAt()).toBe(Number.NEGATIVE_INFINITY)

  const { port } = app.server.address() as AddressInfo
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

it('a request is held back while requests are, and is served afterwards', async () => {
  const connections = new Connections()
  const app = await listen(connections)
  const begun: string[] = []
  app.get('/:name', async ({ params }) => {
    begun.push((params as { name: string }).name)
    return 'served'
  })
  const ask = async (name: string) => (await app.inject(`/${name}`)).body

  expect(await ask('before')).toBe('served')
  const hold = connections.hold()
  const held = [ask('first'), ask('second')]
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  expect(begun).toEqual(['before'])
  hold[Symbol.dispose]()
  expect(await Promise.all(held)).toEqual(['served', 'served'])
  expect(await ask('after')).toBe('served')
  expect(begun).toEqual(['before', 'first', 'second', 'after'])
})

it('the end of a request that its handler destroyed is reported like any other', async () => {
  const statuses: number[] = []
  const meter: RequestMeter = {
    begin:
      () =>
      ({ status }) =>
        void statuses.push(status),
    refuse: () => {},
  }
  const app = await createBareListener({ logger: pino({ level: 'silent' }) }, { meter })
  onTestFinished(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  app.put('/', async ({ raw }) => {
    for await (const chunk of raw) throw new Error(`${String(chunk)} is not wanted`)
  })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  await fetch(base, { method: 'PUT', body: 'x'.repeat(1_000_000) }).catch(() => {})
  await expect.poll(() => statuses).toEqual([500])
})
