import { Readable } from 'node:stream'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { bytesOf, freshKey, put, streamOf } from '../../support/objects.ts'
import { createS3Transport, type S3Response } from '../../../src/object-store/s3/transport.ts'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe('an answer of the object store', () => {
  it.each([0, 1, 4096, 65_536])(
    'an answer of %i bytes comes whole, without a body',
    async (size) => {
      const content = randomBytes(size)
      const { ask } = await serve((_request, response) => response.end(content))
      const answer = await ask('GET')
      expect(answer.body).toBeInstanceOf(Uint8Array)
      expect(content.equals(await bytesOf(answer.body))).toBe(true)
    },
  )

  it.each([65_537, 1_000_000])('an answer of %i bytes comes as a body', async (size) => {
    const content = randomBytes(size)
    const { ask } = await serve((_request, response) => response.end(content))
    const answer = await ask('GET')
    expect(answer.body).toBeInstanceOf(Readable)
    expect(content.equals(await bodyOf(answer))).toBe(true)
  })

  it('an answer that states no length comes as a body', async () => {
    const { ask } = await serve((_request, response) => {
      response.write('first')
      response.end(' and second')
    })
    expect((await bodyOf(await ask('GET'))).toString()).toBe('first and second')
  })

  it('an answer to HEAD has no content, whatever length it states, and keeps connections', async () => {
    const { ask, connections } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 2 ** 30 }).end()
    })
    for (let asked = 0; asked < 6; asked += 1) {
      const answer = await ask('HEAD')
      expect(answer.headers['content-length']).toBe(String(2 ** 30))
      expect((await bytesOf(answer.body)).byteLength).toBe(0)
    }
    // One may still count as busy when the next request comes.
    expect(connections()).toBeLessThanOrEqual(2)
  })

  it('a small answer that breaks off is a failure, never a shorter content', async () => {
    const { ask } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('x')
      setImmediate(() => response.destroy())
    })
    await expect(ask('GET')).rejects.toThrow('other side closed')
  })

  it('a large answer that breaks off fails its body', async () => {
    const { ask } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000 }).write(Buffer.alloc(100_000))
      setImmediate(() => response.destroy())
    })
    await expect(bodyOf(await ask('GET'))).rejects.toThrow('other side closed')
  })

  it('a small answer that never completes ends with its signal', async () => {
    const { ask, closed } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('x')
    })
    const stop = new AbortController()
    const answer = ask('GET', stop.signal)
    setTimeout(() => stop.abort(new Error('given up')), 50)
    await expect(answer).rejects.toThrow('given up')
    await expect(closed).resolves.toBeUndefined()
  })

  it('an answer whose body is large ends with its signal', async () => {
    const { ask, closed } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000 }).write('x')
    })
    const stop = new AbortController()
    const answer = await ask('GET', stop.signal)
    const reading = bodyOf(answer)
    stop.abort(new Error('given up'))
    await expect(reading).rejects.toThrow('given up')
    await expect(closed).resolves.toBeUndefined()
  })

  it('an answer that nobody reads any more closes its connection', async () => {
    const { ask, closed } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000 }).write(Buffer.alloc(100_000))
    })
    const { body } = await ask('GET')
    streamOf({ body: body ?? Buffer.of() }).destroy()
    await expect(closed).resolves.toBeUndefined()
  })

  it('comes no faster than its body is read', async () => {
    const size = 64 * 2 ** 20
    let sent = 0
    const { ask } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': size })
      const chunk = Buffer.alloc(2 ** 20)
      const send = (): void => {
        while (sent < size) {
          sent += chunk.byteLength
          if (!response.write(chunk)) return void response.once('drain', send)
        }
        response.end()
      }
      send()
    })
    const answer = await ask('GET')
    await delay(300)
    expect(sent).toBeLessThan(size / 2)
    expect((await bodyOf(answer)).byteLength).toBe(size)
  })
})

describe('an answer to an upload', () => {
  it('a refusal that never ends is judged by its beginning', async () => {
    let sent = 0
    const { createStore, asked } = await serve((request, response) => {
      if (request.method !== 'PUT') return void response.writeHead(404).end()
      request.resume()
      response.writeHead(403).write('<Error><Code>AccessDenied</Code>')
      const chunk = Buffer.alloc(2 ** 20, ' ')
      const send = (): void => {
        for (; !response.destroyed; sent += chunk.byteLength) {
          if (!response.write(chunk)) return void response.once('drain', send)
        }
      }
      send()
    })
    await expect(put(createStore(), { key: freshKey(), content: SMALL })).rejects.toMatchObject({
      cause: { name: 'AccessDenied' },
    })
    expect(asked('PUT')).toBe(1)
    expect(sent).toBeLessThan(64 * 2 ** 20)
  })

  it('a refusal that breaks off is judged by its status', async () => {
    const { createStore, asked } = await serve((request, response) => {
      if (request.method !== 'PUT') return void response.writeHead(404).end()
      request.resume()
      response.writeHead(413).write('Too')
      setTimeout(() => response.destroy(), 20)
    })
    await expect(put(createStore(), { key: freshKey(), content: SMALL })).rejects.toMatchObject({
      cause: { name: 'Status413' },
    })
    expect(asked('PUT')).toBe(1)
  })

  it('a confirmation that has content leaves its connection to the next', async () => {
    const etag = `"${createHash('md5').update(SMALL).digest('hex')}"`
    const { createStore, connections } = await serve((request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { etag }).write(Buffer.alloc(100_000))
        response.end()
      })
    })
    const store = createStore()
    for (let done = 0; done < 6; done += 1) await put(store, { key: freshKey(), content: SMALL })
    // One may still count as busy when the next request comes.
    expect(connections()).toBeLessThanOrEqual(2)
  })
})

const SMALL = randomBytes(4096)

async function bodyOf({ body }: S3Response): Promise<Buffer> {
  if (!(body instanceof Readable)) throw new Error('There is no body')
  return await buffer(body)
}

async function serve(listener: RequestListener) {
  let count = 0
  const methods: (string | undefined)[] = []
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const server = createServer(listener).listen(0, '127.0.0.1')
  server.on('request', ({ method }) => methods.push(method))
  server.on('connection', (socket) => {
    count += 1
    socket.once('close', () => resolve())
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const transport = createS3Transport({})
  opened.defer(() => {
    transport.destroy?.()
    server.closeAllConnections()
    server.close()
  })
  const where = {
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    path: '/',
    query: {},
    headers: {},
  }
  const ask = async (method: string, abortSignal?: AbortSignal): Promise<S3Response> =>
    (await transport.handle({ ...where, method }, { abortSignal })).response
  const createStore = (): ObjectStore => {
    const store = createS3Store({
      bucket: 'bucket',
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${port}`,
      forcePathStyle: true,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      deadlines: { callMs: 5000, putMs: 5000, cleanupMs: 1000 },
    })
    opened.defer(() => store.close())
    return store
  }
  const asked = (method: string): number => methods.filter((one) => one === method).length
  return { ask, closed, connections: () => count, createStore, asked }
}
