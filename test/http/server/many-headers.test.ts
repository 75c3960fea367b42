import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { rawRequest } from '../../support/http/raw-http.ts'
import { createBareListener } from './bare-listener.ts'

let app: FastifyInstance
let begun: number

beforeEach(async () => {
  begun = 0
  app = await createBareListener()
  app.put('/', async ({ raw, headers }) => {
    begun += 1
    return `${headers['content-length']} ${await text(raw)}`
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(() => app.close())

/** With the header that frames the body behind all others. */
function headOf(headers: number): string {
  return `PUT / HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(headers - 2)}Content-Length: 5\r\n\r\n`
}

it('a request with 200 headers is served, and its connection kept', async () => {
  const { port } = app.server.address() as AddressInfo
  const head = headOf(200)
  const send = [`${head}hello`, { answers: 1 }, `${head}again`]
  const { all } = await rawRequest({ port, send, responses: 2 })
  expect(all.map(({ body }) => body.toString())).toEqual(['5 hello', '5 again'])
})

it.each([201, 230, 2_500])(
  'one with %d headers is refused, and so is all behind it',
  async (headers) => {
    const { port } = app.server.address() as AddressInfo
    const send = [`${headOf(headers)}hello${headOf(3)}again`]
    const reply = await rawRequest({ port, send })
    expect(reply.status).toBe(431)
    expect(JSON.parse(reply.body.toString())).toMatchObject({ code: 'request_head_too_large' })
    expect(reply.closed).toBe(true)
    expect(begun).toBe(0)
  },
)
