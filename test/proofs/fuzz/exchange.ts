import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FuzzCase } from './fuzz-case.ts'
import { readRequests } from './request-reader.ts'
import { readResponses } from './response-reader.ts'

export interface ExchangeOptions {
  readonly port: number
  /** How long the service may take to end a connection whose client has sent all that it will, in milliseconds. */
  readonly timeoutMs: number
  /** How long at most a client that sends nothing more waits until it half-closes; likewise. */
  readonly silenceMs: number
  /** Ends all silences. */
  readonly release: AbortSignal
}

export interface Exchange {
  /** All that the client meant to send, whether or not the connection lasted. */
  readonly sent: Buffer
  readonly received: Buffer
  /** Whether the connection was not over in time. */
  readonly isHung: boolean
}

/** Plays a case over a connection of its own. Never rejects. */
export async function exchange(fuzzCase: FuzzCase, options: ExchangeOptions): Promise<Exchange> {
  const socket = connect({
    port: options.port,
    host: '127.0.0.1',
    noDelay: true,
    allowHalfOpen: true,
  })
  const chunks: Buffer[] = []
  const closed = new AbortController()
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // What the service has half-closed it answers no more.
  socket.once('end', () => socket.end())
  socket.once('close', () => closed.abort())
  const received = (): Buffer => Buffer.concat(chunks)
  try {
    await sendPieces(socket, fuzzCase, closed.signal)
    const sent = Buffer.concat(fuzzCase.pieces)
    const following = fuzzCase.following === 'after' ? fuzzCase.download : Buffer.alloc(0)
    const waiting = { received, options, closed: closed.signal }
    if (following.length > 0) {
      await answered(sent, waiting)
      if (socket.writable) socket.write(following)
    }
    const all = Buffer.concat([sent, following])
    if (fuzzCase.ending === 'half-close') await streamed(all, waiting)
    await end(socket, { fuzzCase, options, closed: closed.signal })
    const isHung = !(await isOver(closed.signal, options.timeoutMs))
    return { sent: all, received: received(), isHung }
  } finally {
    socket.destroy()
  }
}

/** All that a case sends when the connection lasts. */
export function bytesOf({ pieces, following, download }: FuzzCase): Buffer {
  return Buffer.concat(following === 'after' ? [...pieces, download] : pieces)
}

async function sendPieces(
  socket: Socket,
  { pieces, pauseMs }: FuzzCase,
  closed: AbortSignal,
): Promise<void> {
  await Promise.race([once(socket, 'connect').catch(() => {}), once(closed, 'abort')])
  for (const [at, piece] of pieces.entries()) {
    if (at > 0 && pauseMs > 0) await delay(pauseMs)
    if (closed.aborted || !socket.writable) return
    socket.write(piece)
  }
}

interface Waiting {
  readonly received: () => Buffer
  readonly options: ExchangeOptions
  readonly closed: AbortSignal
}

/** Waits for as many answers as there are whole requests; where a request is not whole, for a moment. */
async function answered(sent: Buffer, { received, options, closed }: Waiting): Promise<void> {
  const { requests, rest, methods } = readRequests(sent)
  const isClear = rest === 'nothing' && requests.every(({ isWhole }) => isWhole)
  const deadline = performance.now() + (isClear ? options.timeoutMs : A_MOMENT_MS)
  while (!closed.aborted && performance.now() < deadline) {
    const { responses } = readResponses(received(), { methods, isClosed: false })
    if (isClear && responses.filter(({ isWhole }) => isWhole).length >= requests.length) return
    await delay(2)
  }
}

const A_MOMENT_MS = 20

/**
 * Waits for the end of the answer that has begun, and for that of an archive: Node.js ends what it streams when the
 * client closes its side.
 */
async function streamed(sent: Buffer, { received, options, closed }: Waiting): Promise<void> {
  const { requests, rest, methods } = readRequests(sent)
  const asksForArchive = rest === 'nothing' && requests.some(({ target }) => ARCHIVE.test(target))
  const deadline = performance.now() + options.timeoutMs
  while (!closed.aborted && performance.now() < deadline) {
    const { responses, fault } = readResponses(received(), { methods, isClosed: false })
    const isBegun = responses.some(({ isWhole }) => !isWhole)
    const isDue = asksForArchive && responses.length < requests.length && requests.at(-1)?.isWhole
    if (fault !== undefined || (!isBegun && isDue !== true)) return
    await delay(2)
  }
}

const ARCHIVE = /\/archive\b/i

interface Ending {
  readonly fuzzCase: FuzzCase
  readonly options: ExchangeOptions
  readonly closed: AbortSignal
}

async function end(socket: Socket, { fuzzCase, options, closed }: Ending): Promise<void> {
  if (fuzzCase.ending === 'reset') {
    socket.resetAndDestroy()
    return
  }
  if (fuzzCase.ending === 'silence') {
    const over = AbortSignal.any([closed, options.release, AbortSignal.timeout(options.silenceMs)])
    if (!over.aborted) await once(over, 'abort')
  }
  if (socket.writable) socket.end()
}

/** Whether the connection closes in time. */
async function isOver(closed: AbortSignal, timeoutMs: number): Promise<boolean> {
  if (closed.aborted) return true
  const done = new AbortController()
  const late = delay(timeoutMs, 'late', { signal: done.signal }).catch(() => 'over')
  const outcome = await Promise.race([once(closed, 'abort'), late])
  done.abort()
  return outcome !== 'late'
}
