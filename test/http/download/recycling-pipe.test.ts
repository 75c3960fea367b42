import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FairShare } from '../../../src/core/async/fair-share.ts'
import { pipeAndRecycle } from '../../../src/http/download/recycling-pipe.ts'

const CHUNK_BYTES = 64 * 1024
/** More than the kernel's buffers hold on both sides. */
const CHUNKS = 1000

const waiting = new FairShare({
  totalBytes: 2 ** 20,
  minBytes: CHUNK_BYTES / 4,
  maxBytes: 512 * 1024,
})

describe('content that is released when it was sent', () => {
  let server: Server
  let client: Socket
  let made: Buffer[]
  let released: Uint8Array[]

  /** Serves chunks of which every byte is their number, modulo 255, to a client that reads nothing yet. */
  beforeEach(async () => {
    made = []
    released = []
    server = createServer((_request, answer) => {
      const content = new Readable({
        read() {
          if (made.length === CHUNKS) this.push(null)
          else this.push(made[made.push(chunkOf(made.length)) - 1])
        },
      })
      answer.setHeader('content-length', CHUNKS * CHUNK_BYTES)
      answer.once('close', () => content.destroy())
      const release = (chunk: Uint8Array): void => {
        released.push(chunk)
        // As the next content would.
        chunk.fill(0xff)
      }
      pipeAndRecycle(content, { answer, release, waiting }).pipe(answer)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  })

  afterEach(() => {
    client.destroy()
    server.close()
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
    expect(bytes).toBeGreaterThan(256 * 1024)
    expect(bytes).toBeLessThan(1024 * 1024)
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

describe('what waits for a reader', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('grows while the reader is quick, and shrinks when it becomes slow', async () => {
    const taken: (() => void)[] = []
    const answer = new Writable({ write: (_chunk, _encoding, done) => void taken.push(done) })
    const content = new Readable({
      highWaterMark: 0,
      read() {
        this.push(Buffer.alloc(CHUNK_BYTES))
      },
    })
    pipeAndRecycle(content, { answer, release: () => undefined, waiting }).pipe(answer)
    /** What waits at most when the reader takes a chunk each time that many milliseconds have passed. */
    async function mostWaiting(ms: number): Promise<number> {
      const lengths: number[] = []
      for (let round = 0; round < 40; round++) {
        vi.advanceTimersByTime(ms)
        taken.shift()?.()
        for (let turn = 0; turn < 5; turn++) await nextTurn()
        lengths.push(answer.writableLength)
      }
      return Math.max(...lengths.slice(-10))
    }
    const waitingBytes = [await mostWaiting(1), await mostWaiting(1_000), await mostWaiting(1)]
    content.destroy()
    expect(waitingBytes).toEqual([512 * 1024, CHUNK_BYTES, 512 * 1024])
  })
})

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
