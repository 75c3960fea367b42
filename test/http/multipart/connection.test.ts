import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import {
  fileBody,
  filePart,
  httpChunk,
  multipartBody,
  uploadHead,
} from '../../support/http/multipart-body.ts'
import { rawRequest, type Piece, type RawExchange } from '../../support/http/raw-http.ts'
import {
  codeOf,
  eventually,
  receivedOf,
  sha256,
  startFormApp,
  type FormAppOptions,
} from './file-form-app.ts'

let service: Awaited<ReturnType<typeof startFormApp>> | undefined

afterEach(async () => {
  await service?.close()
  service = undefined
})

async function start(options?: FormAppOptions) {
  service = await startFormApp(options)
  return service
}

const content = Buffer.alloc(300_000, 'content ')
const body = fileBody(content)
const head = uploadHead({ path: '/upload', length: body.length })
const fileStart = body.indexOf('content ')

describe('H01: the client goes away', () => {
  test.each([
    ['before the first byte', 0],
    ['after one byte', 1],
    ['in the head of the file', fileStart - 10],
    ['in the middle of the file', body.length / 2],
    ['before the closing delimiter', fileStart + content.length],
    ['before the last byte', body.length - 1],
  ])('%s', async (_what, at) => {
    const { port, outcomes } = await start()
    for (const afterwards of ['reset', 'end'] as const) {
      const send: Piece[] = [head, body.subarray(0, at), { pauseMs: 30 }]
      expect([0, 400]).toContain((await rawRequest({ port, send, afterwards })).status)
    }
    await eventually(() => outcomes.length === 2)
    expect(outcomes).toEqual(['truncated_body', 'truncated_body'])
    expect((await alive(port)).status).toBe(200)
  })

  test('a client that goes away while we have stopped reading has truncated its body', async () => {
    const { port, outcomes } = await start({ slowMs: 100 })
    const send: Piece[] = [head, body.subarray(0, -10), { pauseMs: 150 }]
    await rawRequest({ port, send, afterwards: 'reset' })
    await eventually(() => outcomes.length === 1)
    expect(outcomes).toEqual(['truncated_body'])
  })

  test('a client that goes away after a malformed form, before its answer, harms nobody', async () => {
    const { port, outcomes } = await start()
    const send: Piece[] = [head, fileBody('abc\r\n--XBOUNDARYx').subarray(0, -3)]
    await rawRequest({ port, send, afterwards: 'reset' })
    await eventually(() => outcomes.length === 1)
    await delay(50)
    expect((await alive(port)).status).toBe(200)
  })
})

test('H02: a client that goes away after the whole form has delivered it', async () => {
  const { port, outcomes } = await start({ settleMs: 100 })
  await rawRequest({ port, send: [head, body, { pauseMs: 50 }], afterwards: 'reset' })
  await eventually(() => outcomes.length === 1)
  expect(outcomes).toEqual(['received'])
})

describe('H03: the body stops coming', () => {
  const idleTimeoutMs = 300
  const next = multipartBody([filePart('abc'), { name: 'x', content: 'y' }])

  test.each([
    ['before its first byte', body.subarray(0, 0)],
    ['in the head of the file', body.subarray(0, 20)],
    ['in the file', body.subarray(0, 200_000)],
    ['after the file', next.subarray(0, next.lastIndexOf('y') - 5)],
    ['before its last byte', body.subarray(0, -1)],
  ])('%s', async (_what, sent) => {
    const { port, outcomes } = await start({ idleTimeoutMs })
    const started = performance.now()
    const reply = await rawRequest({ port, send: [head, sent] })
    expect(codeOf(reply)).toBe('408 request_timeout')
    expect(outcomes).toEqual(['request_timeout'])
    expect(performance.now() - started).toBeGreaterThan(idleTimeoutMs * 0.9)
    expect(performance.now() - started).toBeLessThan(idleTimeoutMs * 4)
  })

  test('a byte at a time is too slow', async () => {
    const { port } = await start({ idleTimeoutMs })
    function* trickle(): Generator<Piece> {
      yield head
      for (const byte of body) yield* [Buffer.of(byte), { pauseMs: 20 }]
    }
    expect(codeOf(await rawRequest({ port, send: trickle() }))).toBe('408 request_timeout')
  })

  test('an epilogue by the byte is too slow', async () => {
    const { port } = await start({ idleTimeoutMs })
    function* trickle(): Generator<Piece> {
      yield uploadHead({ path: '/upload' })
      yield httpChunk(fileBody('abc'))
      for (;;) yield* [httpChunk('e'), { pauseMs: 20 }]
    }
    expect(codeOf(await rawRequest({ port, send: trickle() }))).toBe('408 request_timeout')
  })

  test('a body that is slow but not too slow arrives', async () => {
    const { port } = await start({ idleTimeoutMs })
    function* steady(): Generator<Piece> {
      yield head
      for (let at = 0; at < body.length; at += 20_000) {
        yield* [body.subarray(at, at + 20_000), { pauseMs: 60 }]
      }
    }
    expect((await rawRequest({ port, send: steady() })).status).toBe(200)
  })

  test('our own slowness in reading is not held against the client', async () => {
    const { port } = await start({ idleTimeoutMs: 100, slowMs: 150 })
    const big = fileBody(Buffer.alloc(1_000_000, 'x'))
    const send = [uploadHead({ path: '/upload', length: big.length }), big]
    expect((await rawRequest({ port, send })).status).toBe(200)
  })

  test('our own slowness after the content is not held against the client', async () => {
    const { port } = await start({ idleTimeoutMs: 100, settleMs: 400 })
    expect((await rawRequest({ port, send: [head, body] })).status).toBe(200)
  })
})

test('a signal ends a form that is waited for, with its reason', async () => {
  const { port, outcomes, stop } = await start()
  setTimeout(() => stop.abort(new AppError('unavailable', 'Shutting down.')), 100)
  expect(codeOf(await rawRequest({ port, send: [head, body.subarray(0, 1000)] }))).toBe(
    '503 unavailable',
  )
  expect(outcomes).toEqual(['unavailable'])
})

describe('H08: two requests on one connection', () => {
  const get = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

  test('both are answered when they are sent at once', async () => {
    const { port } = await start()
    const reply = await rawRequest({
      port,
      send: [Buffer.concat([Buffer.from(head), body, Buffer.from(get)])],
      responses: 2,
    })
    expect(reply.all.map(({ status }) => status)).toEqual([200, 200])
    expect(receivedOf(reply)).toMatchObject({ sha256: sha256(content) })
  })

  test('a second request after a refusal is answered or the connection closed', async () => {
    const { port } = await start({ maxBytes: 10 })
    const reply = await rawRequest({ port, send: [head, body, get], responses: 2 })
    expect(codeOf(reply)).toBe('403 capacity_exceeded')
    expect(reply.all.length === 2 || reply.closed).toBe(true)
  })

  test('a refused uploader that reads only after it has sent all can read its refusal', async () => {
    const { port } = await start({ maxBytes: 10 })
    const big = fileBody(Buffer.alloc(20_000_000))
    const send = [uploadHead({ path: '/upload', length: big.length }), big]
    expect(codeOf(await rawRequest({ port, send, readLate: true }))).toBe('403 capacity_exceeded')
  })
})

function alive(port: number): Promise<RawExchange> {
  return rawRequest({ port, send: ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'] })
}
