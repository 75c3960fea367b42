import type { Socket } from 'node:net'

/** Enough for 4 MiB, the most that Linux buffers, at 1.2 Mbit/s. */
const LINGER_MS = 30_000

/** A lingering connection is not read, so it keeps its descriptor even if the client has gone. */
const MAX_LINGERING = 100

/**
 * Closes connections with unread requests. Closing both sides at once would discard what the client has not received
 * yet, so the receiving side follows 30 s later. If many connections linger, further ones close at once.
 */
export class LingeringClose {
  #lingering = 0

  close(socket: Socket): void {
    if (socket.destroyed) return
    if (this.#lingering >= MAX_LINGERING) {
      socket.destroySoon()
      return
    }
    this.#lingering += 1
    socket.once('close', () => (this.#lingering -= 1))
    socket.end()
    destroyLater(socket, LINGER_MS)
  }
}

export function destroyLater(socket: Socket, ms: number): void {
  const closing = setTimeout(() => socket.destroy(), ms)
  socket.once('close', () => clearTimeout(closing))
}
