import { AsyncLocalStorage } from 'node:async_hooks'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { RequestBody } from '../../../src/http/body/request-body.ts'
import { createBareListener } from '../server/bare-listener.ts'
import { rawRequest } from '../../support/http/raw-http.ts'

it('a body is checked in the async context of its request', async () => {
  const active = new AsyncLocalStorage<string>()
  const app = await createBareListener({
    traces: {
      begin: ({ headers }) => ({
        traceId: '',
        within: (work) => active.run(String(headers['x-name']), work),
        end: () => undefined,
      }),
    },
  })
  await using _ = { [Symbol.asyncDispose]: () => app.close() }
  const seen: (string | undefined)[] = []
  app.put('/', async (request) => {
    const check = { write: () => seen.push(active.getStore()), end: () => {} }
    const { signal } = new AbortController()
    await new RequestBody({ request, check, signal, idleTimeoutMs: 5_000 }).ended
    return active.getStore()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const head = (name: string): string =>
    `PUT / HTTP/1.1\r\nHost: a\r\nX-Name: ${name}\r\nContent-Type: a/b\r\nContent-Length: 3\r\n\r\n`
  const pieces = ['a', { pauseMs: 50 }, 'b', { pauseMs: 50 }, 'c', { pauseMs: 50 }] as const
  const { port } = app.server.address() as AddressInfo
  const send = [head('one'), ...pieces, head('two'), ...pieces]
  const { all } = await rawRequest({ port, send, responses: 2 })
  expect(all.map(({ body }) => body.toString())).toEqual(['one', 'two'])
  expect(seen).toEqual(['one', 'one', 'one', 'two', 'two', 'two'])
})
