import type { ServerResponse } from 'node:http'
import { once } from 'node:events'
import { afterAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../../packages/js/src/client.ts'
import { startFakeService } from '../fake-service.ts'
import { bytesOf, errorOf, IMPATIENT } from './fixture.ts'

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

const HTML = { 'content-type': 'text/html' }
const ETAG = { etag: '"v1"' }

describe('a response that is not from the service', () => {
  it.each([
    ['a page', { ...HTML, 'content-length': '6' }],
    ['a page of unknown length', HTML],
    ['a file that a proxy has compressed', { etag: 'W/"v1"', 'content-length': '6' }],
    ['a file of unknown length', ETAG],
  ])('is no download: %s', async (_, headers) => {
    const { client } = await startFake((response) => response.writeHead(200, headers).end('<html>'))
    expect(await errorOf(client.files.download('a'))).toMatchObject({
      code: 'unexpected_response',
      status: 200,
    })
  })

  it('is no part, if a proxy ignores the range', async () => {
    const { client } = await startFake((response) =>
      response.writeHead(200, { ...ETAG, 'content-length': '6' }).end('abcdef'),
    )
    for (const range of [{ start: 2 }, { start: 0, end: 2 }]) {
      const error = await errorOf(client.files.download('a', { range }))
      expect(error).toMatchObject({ code: 'unexpected_response' })
    }
  })

  it('does not continue a download, if a proxy sends the whole file again', async () => {
    const { client } = await startFake((response, range) => {
      response.writeHead(200, { ...ETAG, 'content-length': '6' })
      if (range !== undefined) response.end('abcdef')
      else response.write('abc', () => response.destroy())
    })
    const { stream } = await client.files.download('a')
    expect(await errorOf(bytesOf(stream))).toMatchObject({ code: 'unexpected_response' })
  })

  it('is no archive without a length, and none that is cut off', async () => {
    const page = await startFake((response) => response.writeHead(200, HTML).end('<html>'))
    expect(await errorOf(page.client.files.archive())).toMatchObject({
      code: 'unexpected_response',
    })
    const cut = await startFake((response) => {
      response.writeHead(200, { 'content-length': '6' })
      response.write('abc', () => response.destroy())
    })
    const { stream, size } = await cut.client.files.archive({ prefix: 'a' })
    expect(size).toBe(6)
    expect(await errorOf(bytesOf(stream))).toMatchObject({ code: 'connection_lost' })
    expect(await errorOf(cut.client.files.archive({ names: [] }))).toBeInstanceOf(RangeError)
  })

  it('is no deletion, and no JSON', async () => {
    const { client } = await startFake((response) => response.writeHead(200, HTML).end('<html>'))
    const unexpected = { code: 'unexpected_response', status: 200 }
    expect(await errorOf(client.tokens.revoke('a'))).toMatchObject(unexpected)
    expect(await errorOf(client.capacity())).toMatchObject(unexpected)
  })
})

describe('a download', () => {
  it.each([
    [{ start: 5, end: 5 }],
    [{ start: 0, end: 0 }],
    [{ start: 9, end: 3 }],
    [{ start: -5 }],
    [{ start: 1.5 }],
    [{ start: Number.NaN }],
  ])(
    'a download of the range %o is refused, since the service would send the whole file',
    async (range) => {
      const { client, ranges } = await startFake((response) => response.end())
      expect(await errorOf(client.files.download('a', { range }))).toBeInstanceOf(RangeError)
      expect(ranges).toEqual([])
    },
  )

  it('a download that is cancelled while it waits for bytes does not reconnect', async () => {
    const closed: Promise<unknown>[] = []
    const { client, ranges } = await startFake((response) => {
      closed.push(once(response, 'close'))
      response.writeHead(200, { ...ETAG, 'content-length': '6' }).write('abc')
    })
    const { stream } = await client.files.download('a')
    const reader = stream.getReader()
    await reader.read()
    const waiting = reader.read()
    await new Promise((resolve) => setImmediate(resolve))
    await reader.cancel()
    expect(await waiting).toMatchObject({ done: true })
    await Promise.all(closed)
    // Longer than the wait before a retry.
    await new Promise((resolve) => setTimeout(resolve, 5 * IMPATIENT.firstDelay))
    expect(ranges).toEqual([undefined])
  })
})

/** A client of a server that answers each request in this way. */
async function startFake(
  answer: (response: ServerResponse, range: string | undefined) => unknown,
): Promise<{ readonly client: Client; readonly ranges: (string | undefined)[] }> {
  const ranges: (string | undefined)[] = []
  const service = await startFakeService(({ headers: { range } }, response) => {
    ranges.push(range)
    answer(response, range)
  })
  const { url } = opened.use(service)
  return { client: createClient({ url, retry: IMPATIENT }), ranges }
}
