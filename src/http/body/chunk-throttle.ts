import type { Socket } from 'node:net'

/** A chunk of at least this size costs little more than its bytes do. */
const SMALL_BYTES = 256

/** Whether a chunk costs as much work as kilobytes of large ones. */
export function isSmall({ length }: Buffer): boolean {
  return length < SMALL_BYTES
}

/** Small chunks that one connection may bring in a turn of the event loop and is read on at once. */
const FREE_CHUNKS = 16

/** All connections together; Node's parser takes about 1 us for each, so this is some 2 % of a core. */
const CHUNKS_PER_SECOND = 20_000

/** Reading a chunked body, which stops while its reader wants no more, or while the throttle has it wait. */
export interface Intake {
  /** Bytes that its reader should hold before it pauses: what the request would, if it and not its connection were paused. */
  readonly readAheadBytes: number
  /** Counts a chunk that has come. */
  count(chunk: Buffer): void
  /** Reads no more until `resume`. The rest of what was read from the connection already still comes, 64 KiB at most. */
  pause(): void
  resume(): void
  /** Whether nothing is read at present, for either reason. */
  isPaused(): boolean
}

/**
 * Shares out the work for small chunks of bodies: a connection that has brought many in one read is read again only when
 * its even share of `CHUNKS_PER_SECOND` allows it. One read of chunks of one byte keeps the event loop busy for 15 ms,
 * so without this any client could have all of it.
 */
export class ChunkThrottle {
  readonly #intakes = new WeakMap<Socket, Intake>()
  #throttled = 0

  /** Chunked bodies share that of their connection: what one of them owes, the next waits for. */
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
    // A request asks for more by resuming its connection, whenever it holds less than it may.
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
