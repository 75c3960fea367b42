import { once } from 'node:events'
import { createServer, IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { MessageChannel } from 'node:worker_threads'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { closeIdleFromNowOn } from '../../src/compose/stop.ts'
import { createReadiness } from '../../src/core/readiness.ts'
import { createLedger } from '../../src/database/ledger.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { Writer } from '../../src/database/sqlite/writer/writer.ts'
import { discardBody } from '../../src/http/body/discard-body.ts'
import { createJwtVerifier } from '../../src/jwt/jwt-verifier.ts'
import { createScrape } from '../../src/metrics/scrape.ts'
import { withDeadline } from '../../src/core/async/deadline.ts'
import { FairSemaphore } from '../../src/core/async/fair-semaphore.ts'
import { createS3Body } from '../../src/object-store/s3/get-object.ts'
import { createS3Transport } from '../../src/object-store/s3/transport.ts'
import { createFolder } from '../database/sqlite/harness.ts'
import { failOnDeath } from '../support/runner/fail-on-death.ts'
import { startIdentityProvider } from '../support/servers/identity-provider.ts'
import { bytesOf } from '../support/objects.ts'
import { stall } from '../support/faults/stall.ts'

const LIMIT_MS = 20
const STALL_MS = 60
const { signal } = new AbortController()

/** Every deadline has passed when the process goes on, and what it waited for has arrived. */
describe('after a stall of the process, what has arrived is not refused as late', () => {
  it('an answer of the thread that writes to SQLite', async () => {
    const folder = await createFolder()
    onTestFinished(() => folder.remove())
    const file = join(folder.path, 'test.db')
    const database = await openSqlite({ file })
    onTestFinished(() => database.close())
    await migrate(database)
    const writer = new Writer({ file, baseCapacity: 0 }, failOnDeath)
    onTestFinished(() => writer.close())
    writer.start()
    const ledger = writer.ledger(createLedger(database, { baseCapacity: 0 }))
    await ledger.check()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const answer = ledger.check()
    // The call goes to the thread right before that, which answers meanwhile.
    await stall(1_000)
    vi.advanceTimersByTime(30_000)
    expect(await answer).toBeTypeOf('number')
  })

  it('an answer of the object store', async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    const server = createServer((_request, response) => asked.resolve(response))
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const place = { protocol: 'http:', hostname: '127.0.0.1', port, path: '/' }
    const transport = createS3Transport({})
    onTestFinished(() => transport.destroy?.())
    const answer = withDeadline({ ms: 500, signal }, (abortSignal) =>
      transport.handle({ ...place, method: 'GET', query: {}, headers: {} }, { abortSignal }),
    )
    const response = await asked.promise
    await stall(600, () => response.setHeader('content-length', 5).end('there'))
    expect((await bytesOf((await answer).response.body)).toString()).toBe('there')
  })

  it('the content of an object', async () => {
    const arrival = expectMessage()
    const content = new PassThrough()
    const body = createS3Body(content, { length: 5, idleMs: LIMIT_MS, signal })
    const chunks = body.toArray()
    void arrival.message.then((text) => content.end(text))
    await stall(STALL_MS, arrival.send)
    expect(String((await chunks)[0])).toBe('there')
  })

  it('an answer to the question whether a part is ready', async () => {
    const arrival = expectMessage()
    const readiness = createReadiness({
      checkDatabase: async () => 0,
      checkObjectStore: async () => void (await arrival.message),
      timeoutMs: LIMIT_MS,
    })
    const failures = readiness.failures()
    await stall(STALL_MS, arrival.send)
    expect(await failures).toEqual(new Map())
  })

  it('the turn of a user, which the one before has left', async () => {
    const arrival = expectMessage()
    const turns = new FairSemaphore({ permits: Infinity, perOwner: 1 })
    const late = { ms: LIMIT_MS, error: () => new Error('late') }
    const first = turns.run({ owner: 'ann', late }, () => arrival.message)
    const second = turns.run({ owner: 'ann', late }, async () => 'second')
    await stall(STALL_MS, arrival.send)
    expect(await Promise.all([first, second])).toEqual(['there', 'second'])
  })

  it('the keys of an identity provider', async () => {
    const provider = await startIdentityProvider()
    onTestFinished(() => provider.stop())
    const jwk = await provider.addKey('first')
    const asked = Promise.withResolvers<ServerResponse>()
    provider.answerWith((_request, response) => asked.resolve(response))
    const verifier = createJwtVerifier({ ...provider, timeoutMs: 500 })
    const verified = verifier.verify(await provider.sign({ kid: 'first' }))
    const response = await asked.promise
    await stall(600, () => response.end(JSON.stringify({ keys: [jwk] })))
    expect(await verified).toMatchObject({ userId: 'alice' })
  })

  it('the body of a request', async () => {
    const arrival = expectMessage()
    const raw = new IncomingMessage(new Socket())
    const headers = { 'content-length': '5' }
    raw.headers = headers
    const server = { signals: { shutdown: signal }, idleTimeoutMs: LIMIT_MS }
    const request = { raw, headers, server } as unknown as FastifyRequest
    const passed = discardBody({ request } as FastifyReply)
    const received = arrival.message.then((text) => {
      raw.complete = true
      raw.push(text)
      return raw.push(null)
    })
    await stall(STALL_MS, arrival.send)
    await Promise.all([passed, received])
  })

  it('what a scrape asks others for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const arrival = expectMessage()
    let gauge = ''
    const read = async () => void (gauge = await arrival.message)
    const scraped = createScrape({ clear: () => undefined, read })()
    await stall(STALL_MS, arrival.send)
    vi.advanceTimersByTime(2_000)
    await scraped
    expect(gauge).toBe('there')
  })

  it('the next request on a connection that is about to be closed as idle', async () => {
    const arrival = expectMessage()
    const events: string[] = []
    const closeIdle = () => void events.push('closed')
    const connections = { closeIdle, lastChangedAt: () => 0, quietMs: () => 0 }
    using _ = closeIdleFromNowOn(connections)
    const arrived = arrival.message.then(() => events.push('request'))
    await stall(STALL_MS, arrival.send)
    await arrived
    await expect.poll(() => events.length).toBeGreaterThan(1)
    expect(events[0]).toBe('request')
  })
})

/** A message that is to be read once it has been sent. */
function expectMessage(): { readonly message: Promise<string>; readonly send: () => void } {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const message = once(port2, 'message').then(([text]) => String(text))
  return { message, send: () => port1.postMessage('there') }
}
