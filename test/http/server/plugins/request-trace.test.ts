import { AsyncLocalStorage } from 'node:async_hooks'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { createConnections } from '../../../../src/http/server/pipelining-guard.ts'
import { createRequestLog } from '../../../../src/http/server/plugins/request-log.ts'
import { traceRequests } from '../../../../src/http/server/plugins/request-trace.ts'
import { rawRequest } from '../../../support/raw-http.ts'

describe('traceRequests', () => {
  it('has what the bytes of a body bring about belong to the request that they are of', async () => {
    const active = new AsyncLocalStorage<string>()
    const tracing = traceRequests({
      begin: ({ headers }) => ({
        traceId: '',
        within: (work) => active.run(String(headers['x-name']), work),
        end: () => undefined,
      }),
    })
    const app = fastify({ forceCloseConnections: true })
    await using _ = { [Symbol.asyncDispose]: () => app.close() }
    await app.register(createConnections({ logger: undefined }).plugin)
    await app.register(createRequestLog(undefined).plugin)
    await app.register(tracing.plugin)
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    const seen: (string | undefined)[] = []
    app.put('/', async ({ raw }) => {
      raw.on('data', () => seen.push(active.getStore()))
      await new Promise((resolve) => raw.once('end', resolve))
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
})
