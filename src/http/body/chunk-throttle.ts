import type { Socket } from 'node:net'
import { parseClientAddress } from '../../core/auth/client-address.ts'
import { AddressTurns } from './address-turns.ts'
import { OnePerTurn } from './one-per-turn.ts'

/** A smaller chunk costs as much work as kilobytes of large ones. */
const SMALL_BYTES = 256

export function isSmall({ length }: Buffer): boolean {
  return length < SMALL_BYTES
}

/** Small chunks per connection and event-loop turn that are not throttled. */
const FREE_CHUNKS = 16

/** Of all throttled connections together. Node's parser takes about 1 us per chunk, so this is about 2 % of a core. */
const CHUNKS_PER_SECOND = 20_000

/** A connection that waits to be released, and how many chunks it has sent. */
interface Throttled {
  chunks: number
  readonly release: () => void
}

export interface Intake {
  /** Bytes that the reader buffers before it pauses, instead of the request's own buffer. */
  readonly readAheadBytes: number
  count(chunk: Buffer): void
  /** Stops reading until `resume`. Up to 64 KiB already read from the connection still arrive. */
  pause(): void
  /** Calls `read`, now or in a later event-loop turn; it may then read what has arrived. */
  resume(read: () => void): void
  isPaused(): boolean
}

/**
 * Limits what all connections together may cost: one read of 1-byte chunks blocks the event loop for 15 ms. Throttled
 * connections are released one after the other, each when its chunks are paid for; client addresses take turns. Reads that cannot be throttled yet,
 * the first of a connection and the first for a body, are spread over event-loop turns, so that other requests are
 * served in between.
 */
export class ChunkThrottle {
  readonly #intakes = new WeakMap<Socket, Intake>()
  /** Alternately, so that the chunks of few bodies are in memory that nobody reads yet. */
  readonly #firstReads = new OnePerTurn(['body', 'connection'])
  readonly #throttled = new AddressTurns<Throttled>()
  #timer: NodeJS.Timeout | undefined

  /** Holds back the first read of a new connection if others have come in the same turn. */
  admit(socket: Socket): void {
    const hold = (): void => void socket.pause()
    const read = (): void => void socket.off('resume', hold).resume()
    // Node resumes a new connection after this; pausing it before has no effect.
    socket.on('resume', hold)
    const address = addressOf(socket)
    socket.once('close', () => this.#firstReads.cancel('connection', address, read))
    this.#firstReads.run('connection', address, read)
  }

  /** One per connection: the next request waits for what the previous one owes. */
  intakeOf(socket: Socket): Intake {
    const known = this.#intakes.get(socket)
    if (known !== undefined) return known
    const intake = this.#createIntake(socket)
    this.#intakes.set(socket, intake)
    return intake
  }

  #releaseNext(): void {
    if (this.#timer !== undefined) return
    const next = this.#throttled.take()
    if (next === undefined) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        next.release()
        this.#releaseNext()
      },
      (next.chunks * 1000) / CHUNKS_PER_SECOND,
    )
  }

  #createIntake(socket: Socket): Intake {
    const address = addressOf(socket)
    let isWanted = true
    let isAdmitted = false
    let isThrottled = false
    let chunks = 0
    let reader = (): void => {}

    const isPaused = (): boolean => !isWanted || !isAdmitted || isThrottled
    const update = (): void => {
      if (isPaused()) socket.pause()
      else socket.resume()
    }
    const throttled: Throttled = {
      chunks: 0,
      release: () => {
        if (!isThrottled) return
        isThrottled = false
        update()
      },
    }
    const admit = (): void => {
      isAdmitted = true
      if (isWanted) start()
    }
    const start = (): void => {
      update()
      reader()
    }
    const endTurn = (): void => {
      const count = chunks
      chunks = 0
      if (!isThrottled || socket.destroyed) return
      throttled.chunks = count
      this.#throttled.add(address, throttled)
      this.#releaseNext()
    }
    // A request resumes its connection whenever its buffer has room.
    socket.on('resume', () => {
      if (isPaused()) socket.pause()
    })
    socket.once('close', () => {
      this.#firstReads.cancel('body', address, admit)
      this.#throttled.delete(address, throttled)
    })

    return {
      readAheadBytes: 64 * 1024,
      count: (chunk) => {
        if (!isSmall(chunk)) return
        chunks += 1
        if (chunks === 1) setImmediate(endTurn)
        if (chunks <= FREE_CHUNKS || isThrottled) return
        isThrottled = true
        socket.pause()
      },
      pause: () => {
        if (!isWanted) return
        isWanted = false
        socket.pause()
      },
      resume: (read) => {
        isWanted = true
        reader = read
        if (isAdmitted) start()
        else this.#firstReads.run('body', address, admit)
      },
      isPaused,
    }
  }
}

/** A proxy's connections count as one client: it sends bodies in chunks of its own. */
function addressOf({ remoteAddress = '' }: Socket) {
  return parseClientAddress(remoteAddress)
}
