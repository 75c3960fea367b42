import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createBareListener } from './bare-listener.ts'
import { rawRequest } from '../../support/http/raw-http.ts'

it.each([1_001, 2_500])('a header behind %d others frames the body and is seen', async (others) => {
  const app = await createBareListener()
  onTestFinished(() => app.close())
  app.put('/', async ({ raw, headers }) => `${headers['content-length']} ${await text(raw)}`)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo

  const head = `PUT / HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(others)}Content-Length: 5\r\n\r\n`
  const { all } = await rawRequest({
    port,
    send: [`${head}hello`, { answers: 1 }, `${head}again`],
    responses: 2,
  })
  expect(all.map(({ body }) => body.toString())).toEqual(['5 hello', '5 again'])
})
