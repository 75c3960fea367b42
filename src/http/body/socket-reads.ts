import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type ClientAddress, parseClientAddress } from '../../core/auth/client-address.ts'

/** A smaller chunk costs as much work as kilobytes of large ones. */
const SMALL_BYTES = 256

/** What one slice can cost: 170 chunks of one byte, or 55 requests. */
const SLICE_BYTES = 1024

/** How long one connection is read before the next one's turn. */
const READ_MS = 0.25

export interface SocketReadsOptions {
  readonly socket: Socket
  /** The request whose body is being received, if any. */
  readonly request: () => IncomingMessage | undefined
  /** Called when a sliced connection can be read. It then waits for `read`. */
  readonly onReadable: () => void
  /** Called for each chunk of a body below `SMALL_BYTES`. */
  readonly onSmallChunk: () => void
}

/**
 * Decides whether a connection is read; nothing else pauses or resumes a server's socket. Usually Node's parser reads
 * it. A sliced connection is read only in the turns that it is given.
 */
export class SocketReads {
  /** A proxy's connections count as one client: it sends bodies in chunks of its own. */
  readonly address: ClientAddress
  readonly socket: Socket
  readonly #options: SocketReadsOptions
  #isWanted = true
  #isThrottled = false
  #isEnded = false
  #isSliced = false
  #hasListener = false
  #toldBytes = 0
  /** Until Node has emitted `resume`. */
  #isStopped = false

  constructor(options: SocketReadsOptions) {
    this.#options = options
    const { socket } = options
    this.socket = socket
    this.address = parseClientAddress(socket.remoteAddress ?? '')
    socket.on('pause', () => (this.#isStopped = true))
    // Node resumes the connection after each request, and whenever the buffer of a request has room.
    socket.on('resume', () => {
      this.#isStopped = socket.isPaused()
      if (this.isPaused()) socket.pause()
      else if (this.#hasListener) options.onReadable()
      else if (this.#isSliced) this.#listen()
    })
  }

  isPaused(): boolean {
    return !this.#isWanted || this.#isThrottled || this.#isEnded
  }

  /** Stops reading until `resume`. Up to 64 KiB already read from the connection still arrive. */
  pause(): void {
    this.#isWanted = false
    this.socket.pause()
  }

  resume(): void {
    this.#isWanted = true
    this.#update()
  }

  /** Stops reading for good. */
  end(): void {
    this.#isEnded = true
    this.socket.pause()
  }

  /** Bytes read since the last call. When a request begins, its whole read is included. */
  newBytes(): number {
    const { bytesRead } = this.socket
    const bytes = bytesRead - this.#toldBytes
    this.#toldBytes = bytesRead
    return bytes
  }

  /** Counts a chunk of a body, which may lead to `throttle`. Returns its class. */
  count({ length }: Buffer): 'small' | 'large' {
    if (length >= SMALL_BYTES) return 'large'
    this.#options.onSmallChunk()
    return 'small'
  }

  get isThrottled(): boolean {
    return this.#isThrottled
  }

  throttle(): void {
    this.#isThrottled = true
    this.socket.pause()
  }

  release(): void {
    this.#isThrottled = false
    this.#update()
  }

  slice(): void {
    if (this.#isSliced) return
    this.#isSliced = true
    this.#listen()
  }

  /** Does nothing while unparsed bytes are waiting. */
  unslice(): void {
    const { socket } = this
    if (!this.#isSliced || socket.readableLength > 0) return
    this.#isSliced = false
    if (!this.#hasListener) return
    this.#hasListener = false
    socket.off('readable', this.#onReadable)
  }

  /** Has Node parse what a turn allows. Returns whether bytes are left for the next turn. */
  read(): boolean {
    const { socket } = this
    const until = performance.now() + READ_MS
    do {
      if (!this.#canRead()) return false
      const { readableLength } = socket
      // Without a size it asks for more, or finds the end.
      socket.read(readableLength === 0 ? undefined : Math.min(readableLength, SLICE_BYTES))
      if (socket.readableLength === 0) return false
    } while (performance.now() < until)
    return this.#canRead()
  }

  /** With this listener, Node parses only what `read` takes. */
  #listen(): void {
    const { socket } = this
    // If Node's parser has stopped the socket, adding the listener would keep it from starting it again.
    if (this.#isStopped) return
    this.#hasListener = true
    socket.on('readable', this.#onReadable)
  }

  readonly #onReadable = (): void => {
    if (!this.isPaused()) this.#options.onReadable()
  }

  #canRead(): boolean {
    if (this.isPaused() || !this.#hasListener || this.socket.destroyed) return false
    const request = this.#options.request()
    // Node's own pause does not show while the connection is sliced. It resumes when the buffer has room.
    if (request === undefined || request.complete) return true
    return request.readableLength < request.readableHighWaterMark
  }

  #update(): void {
    if (this.isPaused()) this.socket.pause()
    else this.socket.resume()
  }
}
