import fastify, { type FastifyRequest } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { AppError, isAppError } from '../../../src/core/errors.ts'
import { MAX_FIELD_BYTES } from '../../../src/http/multipart/form-parser.ts'
import { Connections } from '../../../src/http/server/connections.ts'
import { shareReads } from '../../../src/http/server/unread-body.ts'
import {
  minFileSize,
  openFileForm,
  type OpenFileFormOptions,
} from '../../../src/http/multipart/file-form.ts'
import { BOUNDARY, fileBody, filePart, multipartBody } from '../../support/http/multipart-body.ts'

const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const OPTIONS = { signal: new AbortController().signal, idleTimeoutMs: 2_000 }
const big = fileBody(Buffer.alloc(1_000_000, 'x'))

let app = fastify({ forceCloseConnections: true })

afterEach(async () => {
  await app.close()
  app = fastify({ forceCloseConnections: true })
})

/** Sends a form to a handler, and says what the handler came to and whether the service still answers. */
async function handle(
  work: (request: FastifyRequest) => Promise<unknown>,
  { headers = FORM, payload = big }: { headers?: Record<string, string>; payload?: Buffer } = {},
) {
  shareReads(app, new Connections())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.post('/', async (request) => {
    const result = await outcome(work(request))
    request.raw.resume()
    return { result, listeners: request.raw.listenerCount('data') }
  })
  const base = await app.listen({ port: 0, host: '127.0.0.1' })
  const reply = await fetch(base, { method: 'POST', headers, body: new Uint8Array(payload) })
  return reply.json()
}

async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return (await work) ?? 'done'
  } catch (error) {
    return isAppError(error) ? error.code : String(error)
  }
}

function open(request: FastifyRequest, options: Partial<OpenFileFormOptions> = {}) {
  return openFileForm(request, { ...OPTIONS, ...options })
}

async function discard(content: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of content) continue
}

describe('onStart', () => {
  test('is called once, before anything is read', async () => {
    const calls: unknown[] = []
    const reply = await handle(async (request) => {
      const onStart = async () =>
        void calls.push([request.raw.readableFlowing, request.raw.listenerCount('data')])
      using form = await open(request, { onStart })
      await discard(form.content)
      await form.end()
    })
    expect(reply).toEqual({ result: 'done', listeners: 0 })
    expect(calls).toEqual([[null, 0]])
  })

  test('is not called when the headers are refused', async () => {
    const calls: unknown[] = []
    const headers = { 'content-type': 'multipart/form-data' }
    const onStart = async () => void calls.push(1)
    const reply = await handle((request) => open(request, { onStart }), { headers })
    expect(reply).toEqual({ result: 'format_error', listeners: 0 })
    expect(calls).toEqual([])
  })

  test('refuses the form with its error, and nothing is read', async () => {
    const onStart = () => Promise.reject(new AppError('precondition_failed', 'No.'))
    const reply = await handle((request) => open(request, { onStart }))
    expect(reply).toEqual({ result: 'precondition_failed', listeners: 0 })
  })
})

describe('a form that is given up', () => {
  test('can be disposed of before its content is read, twice', async () => {
    const reply = await handle(async (request) => {
      using form = await open(request)
      form[Symbol.dispose]()
      expect(request.raw.isPaused()).toBe(true)
      expect(request.raw.destroyed).toBe(false)
    })
    expect(reply).toEqual({ result: 'done', listeners: 0 })
  })

  test.each([undefined, new Error('the store failed')])(
    'leaves the connection when its content is destroyed with %s',
    async (error) => {
      const reply = await handle(async (request) => {
        using form = await open(request)
        form.content.on('error', () => {}).destroy(error)
        await form.end()
      })
      expect(reply).toEqual({ result: 'truncated_body', listeners: 0 })
    },
  )

  test('has stopped soon after its content was destroyed', async () => {
    const reply = await handle(async (request) => {
      const { content } = await open(request)
      content.destroy()
      await new Promise((resolve) => setTimeout(resolve, 5))
    })
    expect(reply).toEqual({ result: 'done', listeners: 0 })
  })

  test('refuses to end before its content has', async () => {
    const reply = await handle(async (request) => {
      using form = await open(request)
      await form.end()
    })
    expect(reply).toEqual({ result: 'truncated_body', listeners: 0 })
  })

  test('does no harm when nobody disposes of it', async () => {
    const reply = await handle(async (request) => {
      await open(request, { signal: AbortSignal.timeout(20) })
      await new Promise((resolve) => setTimeout(resolve, 50))
    })
    expect(reply).toEqual({ result: 'done', listeners: 0 })
  })
})

test('a form that is malformed right behind its head is not opened', async () => {
  const payload = fileBody(`abc\r\n--${BOUNDARY}x`)
  const reply = await handle(async (request) => void (await open(request)), { payload })
  expect(reply).toEqual({ result: 'format_error', listeners: 0 })
})

test.each([undefined, '1'])(
  'a field that comes once or not at all has the value %s',
  async (value) => {
    const fields = value === undefined ? [] : [{ name: 'x', content: value }]
    const reply = await handle(
      async (request) => {
        using form = await open(request)
        await discard(form.content)
        await form.end()
        return [form.field('x')]
      },
      { payload: multipartBody([filePart('abc'), ...fields]) },
    )
    expect(reply).toEqual({ result: [value ?? null], listeners: 0 })
  },
)

test('a field that comes twice has no value', async () => {
  const field = { name: 'x', content: '1' }
  const reply = await handle(
    async (request) => {
      using form = await open(request)
      await discard(form.content)
      await form.end()
      return form.field('x')
    },
    { payload: multipartBody([field, filePart('abc'), field]) },
  )
  expect(reply).toEqual({ result: 'invalid_parameter', listeners: 0 })
})

test.each([
  ['is not UTF-8', Buffer.of(0x61, 0xff)],
  ['is cut', 'x'.repeat(MAX_FIELD_BYTES + 1)],
])('a field that %s has no value, and another one has', async (_what, content) => {
  const reply = await handle(
    async (request) => {
      using form = await open(request)
      await discard(form.content)
      await form.end()
      return [form.field('y'), form.field('x')]
    },
    {
      payload: multipartBody([
        { name: 'x', content },
        { name: 'y', content: '1' },
        filePart('abc'),
      ]),
    },
  )
  expect(reply).toEqual({ result: 'invalid_parameter', listeners: 0 })
})

describe('the signal', () => {
  test('stops a form before it begins', async () => {
    const signal = AbortSignal.abort(new AppError('unavailable', 'Shutting down.'))
    expect(await handle((request) => open(request, { signal }))).toEqual({
      result: 'unavailable',
      listeners: 0,
    })
  })

  test('fails the content with its reason', async () => {
    const stop = new AbortController()
    const reply = await handle(async (request) => {
      using form = await open(request, { signal: stop.signal })
      setTimeout(() => stop.abort(new AppError('file_too_large', 'Enough.')), 10)
      await new Promise((resolve) => setTimeout(resolve, 30))
      await discard(form.content)
    })
    expect(reply).toEqual({ result: 'file_too_large', listeners: 0 })
  })
})

test('ending twice is as good as once', async () => {
  const reply = await handle(async (request) => {
    using form = await open(request)
    await discard(form.content)
    await Promise.all([form.end(), form.end()])
    await form.end()
  })
  expect(reply).toEqual({ result: 'done', listeners: 0 })
})

test('a request that is gone before it is opened is refused', async () => {
  shareReads(app, new Connections())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.post('/', async (request, reply) => {
    request.raw.destroy()
    return reply.send({ result: await outcome(open(request)) })
  })
  const reply = await app.inject({
    method: 'POST',
    url: '/',
    headers: FORM,
    payload: fileBody('abc'),
  })
  expect(reply.json()).toEqual({ result: 'truncated_body' })
})

test.each([
  [{}, 0],
  [{ 'content-length': '65536' }, 0],
  [{ 'content-length': '65537' }, 1],
  [{ 'content-length': '70000', 'transfer-encoding': 'chunked' }, 0],
])('a file in a request with %o has at least %d bytes', (headers, min) => {
  expect(minFileSize(headers)).toBe(min)
})
