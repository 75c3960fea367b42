import { forgetChanges } from '../../support/forget-changes.ts'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_WATCHES } from '../../../src/core/changes/watches.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { change, list, remove } from '../file-requests.ts'
import {
  ask,
  download,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  type Reply,
  startDownload,
  upload,
} from '../fixture.ts'

const CHANGES = '/users/me/changes'
const RETRY = expect.stringMatching(/^[12]\d{3}$/) as string
const STREAM = { Accept: 'text/event-stream' }

interface Page {
  readonly changes: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor: string
  readonly has_more: boolean
}

/** `GET /users/me/changes`: pages, waiting requests and server-sent events. */
export function feedSuite(open: OpenService): void {
  describe('the changes of a user', () => {
    let service: TestService
    let user: TestUser
    let start: string
    const stopping = new AbortController()
    beforeAll(async () => {
      service = await open({ reverifyMs: 100, stopping: stopping.signal })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      start = (await pageAt()).next_cursor
    })

    const get = (query: Readonly<Record<string, string | number>>, as = user): Promise<Reply> =>
      ask(service, { user: as, path: `${CHANGES}?${queryOf(query)}`, timeoutMs: 30_000 })
    async function pageAt(query: Readonly<Record<string, string | number>> = {}): Promise<Page> {
      const reply = await get(query)
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      return jsonOf(reply) as unknown as Page
    }
    const put = async (name: string, content = 'x') =>
      jsonOf(await upload(service, { user, name, content }))
    it('are listed in their order, each with what it tells', async () => {
      const first = await put('a', 'hello')
      const second = await put('a', 'world!')
      await change(service, { user, name: 'a', body: { visibility: 'public' } })
      await change(service, { user, name: 'a', body: { name: 'b' } })
      await remove(service, { user, name: 'b' })
      const { changes, next_cursor: next, has_more: more } = await pageAt({ cursor: start })
      const [{ sequence } = {}] = changes
      const told = ({ version, size, sha256 }: typeof first) => {
        return { version, size, sha256, media_type: 'application/octet-stream', device_id: null }
      }
      const stamp = (index: number) => ({
        sequence: Number(sequence) + index,
        at: expect.stringMatching(/^20\d\d-.*Z$/) as string,
      })
      const kept = { ...told(second), visibility: 'public' }
      expect(changes).toEqual([
        { ...stamp(0), type: 'file.created', name: 'a', ...told(first), visibility: 'private' },
        { ...stamp(1), type: 'file.replaced', name: 'a', ...told(second), visibility: 'private' },
        { ...stamp(2), type: 'file.updated', name: 'a', ...kept },
        { ...stamp(3), type: 'file.renamed', name: 'b', previous_name: 'a', ...kept },
        { ...stamp(4), type: 'file.deleted', name: 'b', ...kept },
      ])
      expect(more).toBe(false)
      const none = { changes: [], next_cursor: next, has_more: false }
      expect(await pageAt({ cursor: next })).toEqual(none)
    })

    it('have the media type with which the file is downloaded', async () => {
      const store = (name: string, type: string) =>
        upload(service, { user, name, method: 'PUT', headers: { 'Content-Type': type } })
      await store('a.jpg', 'application/octet-stream')
      await store('a.jpg', 'image/webp')
      await store('b.jpg', 'application/x-www-form-urlencoded')
      await change(service, { user, name: 'b.jpg', body: { name: 'b.png' } })
      await change(service, { user, name: 'b.png', body: { media_type: 'image/gif' } })
      await remove(service, { user, name: 'b.png' })
      const { changes } = await pageAt({ cursor: start })
      expect(changes.map(({ type, media_type: mediaType }) => [type, mediaType])).toEqual([
        ['file.created', 'image/jpeg'],
        ['file.replaced', 'image/webp'],
        ['file.created', 'image/jpeg'],
        ['file.renamed', 'image/png'],
        ['file.updated', 'image/gif'],
        ['file.deleted', 'image/gif'],
      ])
    })

    it('come in pages of the requested size', async () => {
      for (const name of ['a', 'b', 'c']) await put(name)
      const first = await pageAt({ cursor: start, limit: 2 })
      const second = await pageAt({ cursor: first.next_cursor, limit: 2 })
      expect(first.changes.map(({ name }) => name)).toEqual(['a', 'b'])
      expect(second.changes.map(({ name }) => name)).toEqual(['c'])
      expect([first.has_more, second.has_more]).toEqual([true, false])
    })

    it('begin where a listing of the own files says, which only its first page does', async () => {
      await put('a')
      const listing = jsonOf(await list(service, { user, query: { limit: 1 } }))
      await put('b')
      const { changes } = await pageAt({ cursor: String(listing['changes_cursor']) })
      expect(changes.map(({ name }) => name)).toEqual(['b'])
      const query = {
        limit: 1,
        cursor: String(jsonOf(await list(service, { user, query: { limit: 1 } }))['next_cursor']),
      }
      expect(jsonOf(await list(service, { user, query }))).not.toHaveProperty('changes_cursor')
      const other = await service.createUser(MIB)
      const foreign = await ask(service, { user: other, path: `/users/${user.userId}/repo` })
      expect(jsonOf(foreign)).not.toHaveProperty('changes_cursor')
    })

    it('end the wait of a request as soon as they are committed', async () => {
      const began = performance.now()
      let cursor = start
      for (let round = 0; round < 12; round += 1) {
        const waiting = pageAt({ cursor, wait: 60 })
        await put('a', `${round}`)
        const page = await waiting
        expect(page.changes).toMatchObject([{ name: 'a' }])
        cursor = page.next_cursor
      }
      // The poll for commits of other processes would find one in a second.
      expect(performance.now() - began).toBeLessThan(9_000)
    })

    it('end the wait of a request with none when it is over', async () => {
      expect(await pageAt({ cursor: start, wait: 1 })).toEqual({
        changes: [],
        next_cursor: start,
        has_more: false,
      })
    })

    it('are not waited for with a token that was revoked', async () => {
      const waiting = get({ cursor: start, wait: 20 })
      await revoke(service, user)
      expectProblem(await waiting, { status: 403, code: 'access_token_invalid' })
    })

    it('are waited for by a limited number of requests of a user', async () => {
      const streams = await Promise.all(
        Array.from({ length: MAX_WATCHES }, () => stream(service, { user })),
      )
      const refused = { status: 429, code: 'too_many_requests' } as const
      expectProblem(await get({ cursor: start, wait: 1 }), refused)
      const again = { user, path: CHANGES, headers: STREAM }
      expectProblem(await download(service, again), refused)
      expect((await pageAt({ cursor: start })).changes).toEqual([])
      for (const each of streams) each.destroy()
      await expect.poll(async () => (await get({ cursor: start, wait: 1 })).status).toBe(200)
    })

    it.each([
      ['a malformed cursor', { cursor: 'abc' }, 'cursor'],
      ['a wait of more than a minute', { wait: 61 }, 'wait'],
      ['a wait that is no number', { wait: '1s' }, 'wait'],
      ['a limit of 0', { limit: 0 }, 'limit'],
      ['a limit of 1001', { limit: 1001 }, 'limit'],
      ['an unknown parameter', { since: 1 }, 'since'],
    ])('are refused for %s', async (_, query, parameter) => {
      const problem = expectProblem(await get(query), { status: 400, code: 'invalid_parameter' })
      expect(problem).toMatchObject({ parameter })
    })

    it('are refused with the cursor of another user or a longer one, and without a token', async () => {
      const other = await service.createUser(MIB)
      const invalid = { status: 400, code: 'invalid_parameter' } as const
      expectProblem(await get({ cursor: start }, other), invalid)
      const key = JSON.parse(Buffer.from(start, 'base64url').toString()) as readonly unknown[]
      const longer = Buffer.from(JSON.stringify([...key, 0])).toString('base64url')
      expectProblem(await get({ cursor: longer }), invalid)
      const missing = { status: 403, code: 'access_token_missing' } as const
      expectProblem(await ask(service, { path: CHANGES }), missing)
    })

    it('are refused with a cursor whose changes are gone', async () => {
      await put('a')
      await forgetChanges(service.ledger, { lifetimeMs: -60_000, limit: 100 })
      const expired = { status: 410, code: 'cursor_expired' } as const
      expectProblem(await get({ cursor: start }), expired)
      expectProblem(await get({ cursor: start, wait: 1 }), expired)
      const path = `${CHANGES}?cursor=${start}`
      expectProblem(await download(service, { user, path, headers: STREAM }), expired)
    })

    it('are a stream of server-sent events, which a client can resume', async () => {
      await put('a')
      const events = await stream(service, { user, cursor: start })
      expect(events.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      const read = reader(events)
      expect(await read()).toEqual({ retry: RETRY, id: start })
      const first = await read()
      expect(first).toMatchObject({ event: 'change' })
      expect(JSON.parse(first['data'] ?? '')).toMatchObject({ type: 'file.created', name: 'a' })
      await put('b')
      const second = await read()
      expect(JSON.parse(second['data'] ?? '')).toMatchObject({ name: 'b' })
      events.destroy()
      const headers = { 'Last-Event-ID': first['id'] ?? '' }
      const resumed = await stream(service, { user, cursor: start, headers })
      const readAgain = reader(resumed)
      expect(await readAgain()).toEqual({ retry: RETRY, id: first['id'] })
      expect(await readAgain()).toEqual(second)
      resumed.destroy()
    })

    it('are a stream that begins with the present, unless a cursor says otherwise', async () => {
      await put('a')
      const events = await stream(service, { user })
      const read = reader(events)
      const { id } = await read()
      await put('b')
      expect(JSON.parse((await read())['data'] ?? '')).toMatchObject({ name: 'b' })
      expect((await pageAt({ cursor: id ?? '' })).changes).toMatchObject([{ name: 'b' }])
      events.destroy()
    })

    it('are a stream that ends when its token is revoked', async () => {
      const events = await stream(service, { user })
      await revoke(service, user)
      expect(await textOf(events)).toMatch(/^retry: \d{4}\nid: [\w-]+\n\n$/)
    })

    it('are not waited for when the service stops', async () => {
      const events = await stream(service, { user })
      const waiting = pageAt({ cursor: start, wait: 20 })
      await put('a')
      await waiting
      const { next_cursor: cursor } = await waiting
      const last = pageAt({ cursor, wait: 20 })
      stopping.abort()
      expect((await last).changes).toEqual([])
      expect(await textOf(events)).toContain('file.created')
    })
  })
}

function queryOf(query: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  return pairs.join('&')
}

async function revoke({ accessTokens }: TestService, { userId }: TestUser): Promise<void> {
  for (const { tokenId } of await accessTokens.list(userId)) {
    await accessTokens.revoke({ userId, tokenId })
  }
}

interface StreamRequest {
  readonly user: TestUser
  readonly cursor?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function stream(
  service: TestService,
  { user, cursor, headers }: StreamRequest,
): Promise<IncomingMessage> {
  const path = cursor === undefined ? CHANGES : `${CHANGES}?cursor=${cursor}`
  const response = await startDownload(service, { user, path, headers: { ...STREAM, ...headers } })
  expect(response.statusCode).toBe(200)
  return response
}

type Fields = Readonly<Record<string, string>>

/** Reads one event at a time. */
function reader(events: IncomingMessage): () => Promise<Fields> {
  const blocks = eventsOf(events)
  return async () => {
    const { value } = await blocks.next()
    if (value === undefined) throw new Error('The stream has ended.')
    return value
  }
}

async function* eventsOf(events: IncomingMessage): AsyncGenerator<Fields, undefined> {
  let text = ''
  for await (const chunk of events) {
    text += String(chunk)
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    yield* blocks.map(fieldsOf)
  }
  return undefined
}

function fieldsOf(block: string): Fields {
  const fields: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const [name = ''] = line.split(':', 1)
    fields[name] = line.slice(name.length + 2)
  }
  return fields
}

async function textOf(events: IncomingMessage): Promise<string> {
  const chunks = (await Array.fromAsync(events)) as readonly Buffer[]
  return Buffer.concat(chunks).toString()
}
