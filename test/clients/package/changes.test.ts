import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Change, type Client, createClient } from '../../../packages/js/src/client.ts'
import { cursorOf, startFakeService } from '../fake-service.ts'
import { clientOf, errorOf, openPackage, type PackageFixture } from './fixture.ts'
import type { TestUser } from '../../support/service/test-service.ts'

const opened = new AsyncDisposableStack()
let fixture: PackageFixture
beforeAll(async () => {
  fixture = await openPackage(opened)
})
afterAll(() => opened.disposeAsync())

describe('changes.follow', () => {
  let user: TestUser
  let client: Client
  beforeEach(async () => {
    user = await fixture.service.createUser(1_000_000)
    client = clientOf(user, fixture.network.url)
    fixture.network.mishaps.length = 0
    fixture.network.requests.length = 0
  })

  const put = (name: string) => client.files.upload(name, Buffer.from(name))

  it('yields each change once and in order, from the cursor of a listing', async () => {
    await put('before')
    const [page] = await Array.fromAsync(client.files.list().pages())
    await put('a')
    await client.files.rename('a', 'b')
    const seen: string[] = []
    for await (const { type, name, sequence } of client.changes.follow({
      cursor: String(page?.changes_cursor),
    })) {
      seen.push(`${type} ${name}`)
      if (sequence === 3) await client.files.delete('b')
      if (type === 'file.deleted') break
    }
    expect(seen).toEqual(['file.created a', 'file.renamed b', 'file.deleted b'])
  })

  it('begins at the present without a cursor, and continues from any change', async () => {
    await put('before')
    const following = client.changes.follow()[Symbol.asyncIterator]()
    const first = following.next()
    await expect.poll(() => fixture.network.requests.length).toBe(3)
    await put('a')
    const { value } = (await first) as IteratorYieldResult<Change>
    expect(value).toMatchObject({ type: 'file.created', name: 'a' })
    await following.return?.()
    await put('b')
    await put('c')
    const names: unknown[] = []
    for await (const { name } of client.changes.follow({ cursor: value.cursor })) {
      names.push(name)
      if (name === 'c') break
    }
    expect(names).toEqual(['b', 'c'])
  })

  it('reconnects after a cut in the middle of an event, and yields nothing twice', async () => {
    const { next_cursor: cursor } = (await (
      await fetch(`${fixture.service.url}/users/me/changes`, { headers: { cookie: user.cookie } })
    ).json()) as { readonly next_cursor: string }
    for (const name of ['a', 'b', 'c', 'd']) await put(name)
    fixture.network.mishaps.push({ cutAfter: 700 }, { cutAfter: 10 })
    const names: unknown[] = []
    for await (const { name } of client.changes.follow({ cursor })) {
      names.push(name)
      if (name === 'd') break
    }
    expect(names).toEqual(['a', 'b', 'c', 'd'])
    expect(fixture.network.mishaps).toEqual([])
  }, 20_000)

  it('rejects with cursor_expired, with the code of a refusal, and with the reason of its signal', async () => {
    const next = (options: Parameters<Client['changes']['follow']>[0], of = client) =>
      errorOf(of.changes.follow(options)[Symbol.asyncIterator]().next())
    expect(await next({ cursor: 'nonsense' })).toMatchObject({ code: 'invalid_parameter' })
    const gone = await startStream((response) => {
      const problem = { status: 410, code: 'cursor_expired', detail: 'List the files again.' }
      response.writeHead(410, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify(problem))
    })
    expect(await next({ cursor: 'old' }, gone)).toMatchObject({
      code: 'cursor_expired',
      status: 410,
    })
    const stop = new AbortController()
    const waiting = next({ signal: stop.signal })
    await expect.poll(() => fixture.network.requests.length).toBeGreaterThan(2)
    stop.abort(new RangeError('enough'))
    expect(await waiting).toEqual(new RangeError('enough'))
  })

  it('reconnects not before Retry-After', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const busy = await startStream((response) => {
      response.writeHead(429, { 'retry-after': '40' }).end('{"code":"too_many_requests"}')
    })
    const stop = new AbortController()
    const { signal } = stop
    const following = busy.changes.follow({ cursor: 'x', signal })[Symbol.asyncIterator]().next()
    const waits = () => timers.mock.calls.map(([, ms]) => ms)
    await expect.poll(waits).toContain(40_000)
    stop.abort(new RangeError('enough'))
    expect(await errorOf(following)).toEqual(new RangeError('enough'))
    vi.restoreAllMocks()
  })

  it('rejects a page of a proxy, instead of asking for it for ever', async () => {
    const proxied = await startStream((response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    })
    const following = proxied.changes.follow({ cursor: 'x' })[Symbol.asyncIterator]().next()
    expect(await errorOf(following)).toMatchObject({ code: 'unexpected_response', status: 200 })
  })

  it('reads events in pieces of any size, and hidden ones move the cursor only', async () => {
    const event = (sequence: number) =>
      `id: after-${sequence}\nevent: change\ndata: ${JSON.stringify({ sequence, name: 'é: ü' })}\n\n`
    const text = `retry: 5\nid: begin\n\n: quiet\n\n${event(1)}id: hidden\n\n${event(2)}`
    const asked: (string | null)[] = []
    const client = await startStream(async (response, cursor) => {
      asked.push(cursor)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (asked.length > 1) return void response.end('id: later\n\n')
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end('data: {"cut')
    })
    const stop = new AbortController()
    const seen: unknown[] = []
    const following = errorOf(
      (async () => {
        for await (const change of client.changes.follow({ cursor: 'x', signal: stop.signal })) {
          seen.push(change)
        }
      })(),
    )
    await expect.poll(() => asked.length).toBeGreaterThan(2)
    stop.abort()
    await following
    expect(seen).toEqual([
      { sequence: 1, name: 'é: ü', cursor: 'after-1' },
      { sequence: 2, name: 'é: ü', cursor: 'after-2' },
    ])
    expect(asked.slice(0, 3)).toEqual(['x', 'after-2', 'later'])
  })
})

/** A client of a service that answers each request for changes in this way. */
async function startStream(
  answer: (response: ServerResponse, cursor: string | null) => unknown,
): Promise<Client> {
  const service = await startFakeService(
    ({ url }, response) => void answer(response, cursorOf(url)),
  )
  return createClient({ url: opened.use(service).url })
}
