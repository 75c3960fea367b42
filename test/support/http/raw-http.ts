import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parseResponses, type RawResponse } from './http-responses.ts'

/** Bytes to send as they are, a pause, or a wait until that many final answers have come whole. */
export type Piece =
  | string
  | Uint8Array
  | { readonly pauseMs: number }
  | { readonly answers: number }

export interface RawRequest {
  readonly port: number
  readonly host?: string
  /** What goes over the socket, in order, each piece in a write of its own. */
  readonly send: Iterable<Piece> | AsyncIterable<Piece>
  /** What the client does when all is sent: wait for the answer (default), half-close, or reset the connection. */
  readonly afterwards?: 'wait' | 'end' | 'reset'
  /** Read nothing before all has been sent, as simple clients do. */
  readonly readLate?: boolean
  /** How many final answers to wait for; 1 when left out. */
  readonly responses?: number
  /** After this time it rejects with what has come. */
  readonly timeoutMs?: number
}

export interface RawExchange {
  /** Of the first final answer; 0 when the connection closed without one. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /**
   * Whether the server closed the connection. Waited for only when an answer says `Connection: close`, or none came.
   */
  readonly closed: boolean
  /** All answers, 1xx included, in order. */
  readonly all: readonly RawResponse[]
  /** Every byte that came. */
  readonly received: Buffer
}

/**
 * Speaks HTTP over a plain socket, so that a test says exactly which bytes go when. Resolves when the answers are whole
 * or the connection is closed, by whichever side; an error of the connection counts as closing. Sending goes on while
 * answers come and stops when they are there.
 */
export async function rawRequest(request: RawRequest): Promise<RawExchange> {
  const { port, host = '127.0.0.1', timeoutMs = 10_000, readLate = false } = request
  const socket = connect({ port, host, noDelay: true })
  socket.on('error', () => {})
  const answer = new Answer(socket, request.responses ?? 1)
  if (readLate) socket.pause()
  const over = new AbortController()
  try {
    void sendAll(socket, { request, answer, over: over.signal })
    const timeout = delay(timeoutMs, 'timeout', { signal: over.signal })
    if ((await Promise.race([answer.complete, timeout])) === 'timeout') {
      throw new Error(
        `no answer within ${timeoutMs} ms, but: ${answer.received().toString('latin1', 0, 500)}`,
      )
    }
    return answer.exchange()
  } finally {
    over.abort()
    socket.destroy()
  }
}

/** Never rejects. */
async function sendAll(
  socket: Socket,
  { request, answer, over }: { request: RawRequest; answer: Answer; over: AbortSignal },
): Promise<void> {
  try {
    for await (const piece of request.send) {
      if (over.aborted || socket.destroyed) return
      if (typeof piece === 'object' && 'pauseMs' in piece) {
        await delay(piece.pauseMs, undefined, { signal: over })
      } else if (typeof piece === 'object' && 'answers' in piece) {
        await answer.count(piece.answers)
      } else if (!socket.write(piece)) {
        await once(socket, 'drain', { signal: over })
      }
    }
    if (request.afterwards === 'end') socket.end()
    if (request.afterwards === 'reset') socket.resetAndDestroy()
    socket.resume()
  } catch {
    // The connection is gone or the answers are there: nobody needs the rest.
  }
}

/** Collects what the server says. */
class Answer {
  /** Resolves when the expected answers have come whole, and then, if they announce it, the connection is closed. */
  readonly complete: Promise<void>
  readonly #chunks: Buffer[] = []
  #closed = false
  #count = 0
  readonly #waits: { readonly count: number; readonly resolve: () => void }[] = []
  /** Bytes that must come before looking again can show anything new; parsing a big body at each chunk is slow. */
  #wanting = 0

  constructor(socket: Socket, expected: number) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.complete = promise
    const check = (): void => {
      const responses = this.#responses()
      this.#wanting = responses.at(-1)?.missing ?? 0
      const final = responses.filter(({ status, whole }) => status >= 200 && whole)
      const closing = final.some(({ headers }) => headers['connection'] === 'close')
      if (this.#closed || (final.length >= expected && !closing)) resolve()
      this.#count = final.length
      for (const { count, resolve } of this.#waits) if (count <= final.length) resolve()
    }
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#wanting -= chunk.length
      if (this.#wanting <= 0) check()
    })
    const onEnd = (): void => {
      this.#closed = true
      check()
    }
    socket.on('end', onEnd).on('close', onEnd)
  }

  /** Resolves when that many final answers have come whole. */
  count(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#count >= count) resolve()
    this.#waits.push({ count, resolve })
    return promise
  }

  received(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  exchange(): RawExchange {
    const all = this.#responses()
    const first = all.find(({ status, whole }) => status >= 200 && whole)
    return {
      status: first?.status ?? 0,
      headers: first?.headers ?? {},
      body: first?.body ?? Buffer.alloc(0),
      closed: this.#closed,
      all,
      received: this.received(),
    }
  }

  #responses(): RawResponse[] {
    return parseResponses(this.received(), { closed: this.#closed })
  }
}
