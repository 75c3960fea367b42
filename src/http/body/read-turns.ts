import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { FairSemaphore } from '../../core/async/fair-semaphore.ts'
import { LoopTurns } from '../../core/async/loop-turns.ts'
import { SocketReads } from './socket-reads.ts'

/** Small chunks per connection and event-loop iteration that are not throttled. */
const FREE_CHUNKS = 16

/** Of all throttled connections together. Node's parser takes about 1 us per chunk, so this is about 2 % of a core. */
const CHUNKS_PER_SECOND = 20_000

const MS_PER_CHUNK = 0.001

/** Of a request behind an unanswered or refused one. */
const MS_PER_IGNORED_REQUEST = 0.01

/** What the parser takes at the most: a read of 64 KiB in chunks of one byte takes 15 ms. */
const MS_PER_BYTE = 0.25 / 1024

/** What an ordinary request takes to begin. */
const ORDINARY_MS = 0.5

/** So much waste in one event-loop iteration starts the slicing. */
const EXPENSIVE_MS = 4

/** How long slices are read in one event-loop iteration. */
const ITERATION_MS = 1

const SLICING_MS = 10_000

/**
 * Bounds what parsing costs: one read of a connection brings up to 64 KiB, which can be 11,000 chunks of one byte or
 * 3,500 requests, takes Node's parser 15 ms or more and can't be stopped, and one event-loop iteration reads all
 * connections.
 *
 * - **Throttling.** A connection with many small chunks is paused until they are paid for.
 * - **Slicing.** Once the waste of one event-loop iteration is expensive, all connections are read in slices of 1 KiB,
 *   for 1 ms per iteration, and client addresses take turns. It ends after 10 s.
 */
export class ReadTurns {
  readonly #requestOf: (socket: Socket) => IncomingMessage | undefined
  readonly #open = new Map<Socket, SocketReads>()
  readonly #turns = new LoopTurns(ITERATION_MS)
  /** Small chunks of this event-loop iteration, and those that throttled connections have yet to pay for. */
  readonly #chunks = new Map<SocketReads, number>()
  readonly #payments = new FairSemaphore({ permits: 1 })
  #slicing: NodeJS.Timeout | undefined
  /** The last request of this iteration that may be expensive: when it began, and the bytes of its read. */
  #suspect: { readonly since: number; readonly bytes: number } | undefined
  #isResetDue = false
  #wastedMs = 0

  /** `requestOf` returns the request in progress, until its body is complete. */
  constructor(requestOf: (socket: Socket) => IncomingMessage | undefined) {
    this.#requestOf = requestOf
  }

  watch(socket: Socket): void {
    const reads: SocketReads = new SocketReads({
      socket,
      request: () => this.#requestOf(socket),
      onReadable: () => this.#turns.add(reads.address, readInTurn),
      onSmallChunk: () => this.#countChunk(reads),
    })
    const readInTurn = (): void => {
      if (reads.read()) this.#turns.add(reads.address, readInTurn)
      else if (this.#slicing === undefined) reads.unslice()
    }
    this.#open.set(socket, reads)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#chunks.delete(reads)
    })
    if (this.#slicing !== undefined) reads.slice()
  }

  /** `undefined` after the connection has closed. */
  of(socket: Socket): SocketReads | undefined {
    return this.#open.get(socket)
  }

  /** Measures how long Node's parser takes for a chunked or ignored request, if another begins in this iteration. */
  begin(request: IncomingMessage, { isIgnored }: { readonly isIgnored: boolean }): void {
    this.#endMeasurement()
    const bytes = this.of(request.socket)?.newBytes() ?? 0
    const isChunked = request.headers['transfer-encoding'] !== undefined
    if (isIgnored) this.#waste(MS_PER_IGNORED_REQUEST)
    if (!isChunked && !isIgnored) return
    this.#suspect = { since: performance.now(), bytes }
    this.#resetAfterIteration()
  }

  /**
   * Node does not report the end of a read, and `nextTick` runs after every chunk; so the next request marks it. The
   * time since then can contain other work, so it counts only as far as the bytes can explain it.
   */
  #endMeasurement(): void {
    if (this.#suspect === undefined) return
    const { since, bytes } = this.#suspect
    this.#suspect = undefined
    const ms = Math.min(performance.now() - since, bytes * MS_PER_BYTE)
    if (ms > ORDINARY_MS) this.#waste(ms)
  }

  #waste(ms: number): void {
    this.#resetAfterIteration()
    this.#wastedMs += ms
    if (this.#wastedMs < EXPENSIVE_MS || this.#slicing !== undefined) return
    this.#slicing = setTimeout(this.#endSlicing, SLICING_MS).unref()
    for (const reads of this.#open.values()) reads.slice()
  }

  #resetAfterIteration(): void {
    if (this.#isResetDue) return
    this.#isResetDue = true
    setImmediate(() => {
      this.#isResetDue = false
      this.#suspect = undefined
      this.#wastedMs = 0
      for (const [reads, chunks] of this.#chunks) {
        if (chunks <= FREE_CHUNKS && !reads.isThrottled) this.#chunks.delete(reads)
      }
    })
  }

  readonly #endSlicing = (): void => {
    this.#slicing = undefined
    for (const reads of this.#open.values()) reads.unslice()
  }

  #countChunk(reads: SocketReads): void {
    this.#waste(MS_PER_CHUNK)
    const chunks = (this.#chunks.get(reads) ?? 0) + 1
    this.#chunks.set(reads, chunks)
    if (chunks > FREE_CHUNKS && !reads.isThrottled) void this.#throttle(reads)
  }

  async #throttle(reads: SocketReads): Promise<void> {
    reads.throttle()
    await this.#payments.run({ owner: reads.address }, async () => {
      // What had been read before the pause still arrives.
      for (let owed = this.#chunks.get(reads); owed !== undefined; owed = this.#chunks.get(reads)) {
        this.#chunks.delete(reads)
        await delay((owed * 1000) / CHUNKS_PER_SECOND)
      }
    })
    reads.release()
  }
}
