import type { Socket } from 'node:net'
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
 * connections are released one after the other, each when its chunks are paid for. Reads that cannot be throttled yet,
 * the first of a connection and the first for a body, are spread over event-loop turns, so that other requests are
 * served in between.
 */
export class ChunkThrottle {
  readonly #intakes = new WeakMap<Socket, Intake>()
  readonly #firstReads = new OnePerTurn()
  /** The releases of throttled connections, and how many chunks each has sent. */
  readonly #throttled = new Map<() => void, number>()
  #timer: NodeJS.Timeout | undefined

  /** Holds back the first read of a new connection if others have come in the same turn. */
  admit(socket: Socket): void {
    const hold = (): void => void socket.pause()
    const read = (): void => void socket.off('resume', hold).resume()
    // Node resumes a new connection after this; pausing it before has no effect.
    socket.on('resume', hold)
    socket.once('close', () => this.#firstReads.cancel(read))
    this.#firstReads.run(read)
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
    const [next] = this.#throttled
    if (this.#timer !== undefined || next === undefined) return
    const [release, chunks] = next
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        release()
        this.#releaseNext()
      },
      (chunks * 1000) / CHUNKS_PER_SECOND,
    )
  }

  #createIntake(socket: Socket): Intake {
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
    const release = (): void => {
      this.#throttled.delete(release)
      if (!isThrottled) return
      isThrottled = false
      update()
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
      if (!isThrottled || socket.destroyed) return release()
      this.#throttled.set(release, count)
      this.#releaseNext()
    }
    // A request resumes its connection whenever its buffer has room.
    socket.on('resume', () => {
      if (isPaused()) socket.pause()
    })
    socket.once('close', () => {
      this.#firstReads.cancel(admit)
      release()
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
        else this.#firstReads.run(admit)
      },
      isPaused,
    }
  }
}
