import type { Socket } from 'node:net'

/** A smaller chunk costs as much work as kilobytes of large ones. */
const SMALL_BYTES = 256

export function isSmall({ length }: Buffer): boolean {
  return length < SMALL_BYTES
}

/** Small chunks per connection and event-loop turn that are not throttled. */
const FREE_CHUNKS = 16

/** Shared by all connections. Node's parser takes about 1 us per chunk, so this is about 2 % of a core. */
const CHUNKS_PER_SECOND = 20_000

export interface Intake {
  /** Bytes that the reader buffers before it pauses, instead of the request's own buffer. */
  readonly readAheadBytes: number
  count(chunk: Buffer): void
  /** Stops reading until `resume`. Up to 64 KiB already read from the connection still arrive. */
  pause(): void
  resume(): void
  isPaused(): boolean
}

/** Shares `CHUNKS_PER_SECOND` evenly: one read of 1-byte chunks blocks the event loop for 15 ms. */
export class ChunkThrottle {
  readonly #intakes = new WeakMap<Socket, Intake>()
  #throttled = 0

  /** One per connection: the next request waits for what the previous one owes. */
  intakeOf(socket: Socket): Intake {
    const known = this.#intakes.get(socket)
    if (known !== undefined) return known
    const intake = this.#createIntake(socket)
    this.#intakes.set(socket, intake)
    return intake
  }

  #createIntake(socket: Socket): Intake {
    let isWanted = true
    let isThrottled = false
    let chunks = 0
    let timer: NodeJS.Timeout | undefined

    const isPaused = (): boolean => !isWanted || isThrottled
    const update = (): void => {
      if (isPaused()) socket.pause()
      else socket.resume()
    }
    const release = (): void => {
      clearTimeout(timer)
      if (!isThrottled) return
      isThrottled = false
      this.#throttled -= 1
      update()
    }
    const endTurn = (): void => {
      const count = chunks
      chunks = 0
      if (!isThrottled || socket.destroyed) return release()
      timer = setTimeout(release, (count * this.#throttled * 1000) / CHUNKS_PER_SECOND)
    }
    // A request resumes its connection whenever its buffer has room.
    socket.on('resume', () => {
      if (isPaused()) socket.pause()
    })
    socket.once('close', release)

    return {
      readAheadBytes: 64 * 1024,
      count: (chunk) => {
        if (!isSmall(chunk)) return
        chunks += 1
        if (chunks === 1) setImmediate(endTurn)
        if (chunks <= FREE_CHUNKS || isThrottled) return
        isThrottled = true
        this.#throttled += 1
        socket.pause()
      },
      pause: () => {
        if (!isWanted) return
        isWanted = false
        socket.pause()
      },
      resume: () => {
        if (isWanted) return
        isWanted = true
        update()
      },
      isPaused,
    }
  }
}
