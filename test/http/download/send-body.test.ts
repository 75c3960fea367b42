import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFairShare } from '../../../src/core/async/fair-share.ts'
import { storeError } from '../../../src/object-store/store-error.ts'
import {
  sendBody,
  type SendBodyOptions,
  watchSlowReader,
} from '../../../src/http/download/send-body.ts'

const KIB = 1024
const CHUNK_BYTES = 64 * KIB
/** More than the kernel's buffers hold on both sides. */
const CHUNKS = 1000

const memory = { totalBytes: 2 ** 20, minBytes: CHUNK_BYTES / 4, maxBytes: 512 * KIB }
const { signal } = new AbortController()
const signals = { stopping: signal, shutdown: signal }

function optionsOf(body: Readable, options: Partial<SendBodyOptions> = {}): SendBodyOptions {
  const waiting = createFairShare(memory)
  return { body, release: undefined, waiting, signal, ...options }
}

describe('content that is released when it was sent', () => {
  let app: FastifyInstance
  let client: Socket
  let made: Buffer[]
  let released: Uint8Array[]

  /** Serves chunks of which every byte is their number, modulo 255, to a client that reads nothing yet. */
  beforeEach(async () => {
    made = []
    released = []
    app = fastify()
    app.decorate('signals', signals)
    app.get('/', async (_request, reply) => {
      const content = new Readable({
        read() {
          if (made.length === CHUNKS) this.push(null)
          else this.push(made[made.push(chunkOf(made.length)) - 1])
        },
      })
      void reply.header('content-length', CHUNKS * CHUNK_BYTES)
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const release = (chunk: Uint8Array): void => {
        released.push(chunk)
        // As the next content would.
        chunk.fill(0xff)
      }
      return sendBody(reply, optionsOf(content, { release, signal: gone.signal }))
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    client = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause()
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  })

  afterEach(async () => {
    client.destroy()
    await app.close()
  })

  it('gives back every chunk once, when nothing reads it any more', async () => {
    const received: Buffer[] = []
    client.on('data', (data: Buffer) => received.push(data)).resume()
    await once(client, 'close')
    const content = Buffer.concat(received).subarray(-CHUNKS * CHUNK_BYTES)
    for (let index = 0; index < CHUNKS; index++) {
      const chunk = content.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES)
      expect(chunk.equals(chunkOf(index))).toBe(true)
    }
    expect(new Set(released).size).toBe(CHUNKS)
    expect(released).toHaveLength(CHUNKS)
  })

  it('keeps what waits for a reader who takes nothing, and does not read on', async () => {
    const waiting = await settledCount(() => made.length)
    expect(waiting).toBeLessThan(CHUNKS)
    // Half a megabyte in the answer, and what the content has read ahead.
    const bytes = (waiting - released.length) * CHUNK_BYTES
    expect(bytes).toBeGreaterThan(256 * KIB)
    expect(bytes).toBeLessThan(1024 * KIB)
    client.resume()
    await once(client, 'close')
    expect(released).toHaveLength(CHUNKS)
  })

  it('releases nothing that a reader who left did not take', async () => {
    await settledCount(() => made.length)
    client.destroy()
    const count = await settledCount(() => made.length)
    expect(count).toBeLessThan(CHUNKS)
    expect(released.length).toBeLessThan(count)
  })
})

describe('an answer with content', () => {
  let app: FastifyInstance
  let body: Readable
  let stopping: AbortController
  let size: number
  const log: object[] = []

  beforeEach(async () => {
    log.length = 0
    stopping = new AbortController()
    size = 3
    const stream = { write: (line: string) => void log.push(JSON.parse(line) as object) }
    app = fastify({ logger: { level: 'warn', stream } })
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.decorateRequest('abortedBy', null)
    app.decorate('signals', { ...signals, stopping: stopping.signal })
    app.get('/', async (_request, reply) => {
      void reply
        .code(206)
        .headers({ 'content-length': size, 'content-type': 'a/b', 'x-other': 'y' })
      return sendBody(reply, optionsOf(body))
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterEach(() => app.close())

  const url = () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`

  it('has its status, its headers and its bytes, and keeps its connection', async () => {
    body = Readable.from([Buffer.from('a'), Buffer.from('bc')], { objectMode: false })
    const reply = await fetch(url())
    expect({ status: reply.status, ...Object.fromEntries(reply.headers) }).toMatchObject({
      status: 206,
      'content-length': '3',
      'content-type': 'a/b',
      'x-other': 'y',
      connection: 'keep-alive',
    })
    expect(await reply.text()).toBe('abc')
  })

  it('may have no bytes', async () => {
    size = 0
    body = Readable.from([])
    const reply = await fetch(url())
    expect({ status: reply.status, text: await reply.text() }).toEqual({ status: 206, text: '' })
  })

  it('says that the connection closes when the service is stopping', async () => {
    stopping.abort()
    body = Readable.from(Buffer.from('abc'), { objectMode: false })
    const reply = await fetch(url())
    expect(reply.headers.get('connection')).toBe('close')
    expect(await reply.text()).toBe('abc')
  })

  it('closes the connection on which the content of its own request has not come', async () => {
    body = Readable.from(Buffer.from('abc'), { objectMode: false })
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Length: 9\r\n\r\n')
    const text = String(Buffer.concat(await client.toArray()))
    expect(text).toMatch(/^HTTP\/1.1 206 .*\r\nconnection: close\r\n.*\r\n\r\nabc$/is)
  })

  it('is an error when the content fails before its first byte', async () => {
    body = new Readable({ read: () => void body.destroy(storeError(new Error('gone'))) })
    const reply = await fetch(url())
    expect(reply.status).toBe(500)
    expect(reply.headers.get('content-length')).not.toBe('3')
  })

  it('is an error when the content has failed already', async () => {
    body = new Readable().on('error', () => undefined).destroy(new Error('gone'))
    await new Promise((resolve) => body.once('close', resolve))
    expect((await fetch(url())).status).toBe(500)
  })

  it('breaks off when the content fails later, and the log has the cause', async () => {
    async function* half() {
      yield Buffer.from('a')
      await nextTurn()
      await nextTurn()
      throw storeError(new Error('the disk is gone'))
    }
    body = Readable.from(half(), { objectMode: false })
    const reply = await fetch(url())
    expect(reply.status).toBe(206)
    await expect(reply.text()).rejects.toThrow('terminated')
    expect(log).toHaveLength(1)
    expect(JSON.stringify(log)).toContain('the disk is gone')
  })
})

describe('what waits for a reader', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('grows while the reader is quick, and shrinks when it becomes slow', async () => {
    const taken: (() => void)[] = []
    let bytes = 0
    const answer = new Writable({ write: (_chunk, _encoding, done) => void taken.push(done) })
    const content = new Readable({
      highWaterMark: 0,
      read() {
        bytes += CHUNK_BYTES
        this.push(Buffer.alloc(CHUNK_BYTES))
      },
    })
    const release = (chunk: Uint8Array): void => void (bytes -= chunk.byteLength)
    const sent = sendBody(replyOf(answer), optionsOf(content, { release }))
    /** What waits at most when the reader takes a chunk each time that many milliseconds have passed. */
    async function mostWaiting(ms: number): Promise<number> {
      const lengths: number[] = []
      for (let round = 0; round < 40; round++) {
        vi.advanceTimersByTime(ms)
        taken.shift()?.()
        for (let turn = 0; turn < 5; turn++) await nextTurn()
        lengths.push(bytes)
      }
      return Math.max(...lengths.slice(-10))
    }
    const waitingBytes = [await mostWaiting(1), await mostWaiting(1_000), await mostWaiting(1)]
    content.destroy()
    await sent
    expect(waitingBytes).toEqual([512 * KIB, CHUNK_BYTES, 512 * KIB])
  })
})

describe('a reader who was quick', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** Takes 16 MiB at once and from then on so much; of a write all is taken when the last byte of it is. */
  async function readerOf(bytesPerSecond: number, chunkBytes: number) {
    let taken = 0
    const take = (bytes: number, done: () => void): void => {
      const finish = (): void => {
        taken += bytes
        done()
      }
      if (taken < 16 * KIB * KIB) finish()
      else if (bytesPerSecond > 0) setTimeout(finish, (bytes / bytesPerSecond) * 1000)
    }
    const answer = new Writable({
      write: (chunk: Buffer, _encoding, done) => take(chunk.length, done),
      writev: (chunks, done) =>
        take(
          chunks.reduce((sum, { chunk }) => sum + (chunk as Buffer).length, 0),
          done,
        ),
    })
    const socket = Object.defineProperties(new EventEmitter(), {
      bytesWritten: { get: () => taken + answer.writableLength },
      writableLength: { get: () => answer.writableLength },
    })
    const reply = replyOf(answer, socket)
    const body = new Readable({
      highWaterMark: 0,
      read() {
        this.push(Buffer.alloc(chunkBytes))
      },
    })
    void sendBody(reply, optionsOf(body))
    watchSlowReader(reply)
    await vi.advanceTimersByTimeAsync(30 * 60_000)
    const { destroyed } = answer
    answer.destroy()
    body.destroy()
    return { destroyed, taken, abortedBy: reply.request.abortedBy }
  }

  it.each([CHUNK_BYTES, 256 * KIB])(
    'a reader who was quick and takes 2 KiB/s of content in chunks of %i bytes keeps its connection',
    async (chunkBytes) => {
      const { destroyed, taken } = await readerOf(2 * KIB, chunkBytes)
      expect(taken).toBeGreaterThan(16 * KIB * KIB + 3000 * KIB)
      expect(destroyed).toBe(false)
    },
  )

  it.each([0, KIB / 2])(
    'a reader who was quick and takes %d bytes/s loses its connection',
    async (bytesPerSecond) => {
      const { destroyed, abortedBy } = await readerOf(bytesPerSecond, CHUNK_BYTES)
      expect({ destroyed, abortedBy }).toEqual({ destroyed: true, abortedBy: 'timeout' })
    },
  )
})

/** An answer whose head was sent. */
function replyOf(raw: Writable, socket: object = {}): FastifyReply {
  const request = { raw: { complete: true, socket }, log: { error: () => undefined } }
  const server = { signals, idleTimeoutMs: 60_000 }
  return { raw, sent: true, request, server } as unknown as FastifyReply
}

function chunkOf(index: number): Buffer {
  return Buffer.alloc(CHUNK_BYTES, index % 255)
}

/** What a count comes to when it grows no more. */
async function settledCount(count: () => number): Promise<number> {
  let before = -1
  await vi.waitFor(
    () => {
      const now = count()
      const isSettled = now > 0 && now === before
      before = now
      if (!isSettled) throw new Error('It still grows')
    },
    { timeout: 10_000, interval: 200 },
  )
  return before
}
