import type { Socket } from 'node:net'
import { getHeapStatistics } from 'node:v8'
import { type ClientAddress, parseClientAddress } from '../../core/auth/client-address.ts'

/** What one holds without a token: its objects, a head of 16 KiB, and a slice of a body in small chunks. */
const BYTES_PER_CONNECTION = 128 * 1024

/** As many as the heap has room for: 4,480 in a container of 1 GiB, 32,000 with a heap of 4 GiB. */
export function defaultMaxConnections(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / BYTES_PER_CONNECTION)
}

/**
 * Bounds the open connections. One too many closes the oldest of the client address that has most, so that one client
 * cannot keep the others out.
 */
export class ConnectionSlots {
  readonly #max: number
  readonly #byAddress = new Map<ClientAddress, Set<Socket>>()
  #open = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Returns whether another connection had to close. */
  take(socket: Socket): boolean {
    const address = parseClientAddress(socket.remoteAddress ?? '')
    const own = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, own.add(socket))
    this.#open += 1
    socket.once('close', () => this.#leave(address, socket))
    if (this.#open <= this.#max) return false
    const [crowded, most] = [...this.#byAddress].reduce((a, b) => (b[1].size > a[1].size ? b : a))
    const [oldest] = most
    if (oldest === undefined) return false
    // At once: its `close` comes later.
    this.#leave(crowded, oldest)
    oldest.destroy()
    return true
  }

  #leave(address: ClientAddress, socket: Socket): void {
    const own = this.#byAddress.get(address)
    if (own?.delete(socket) !== true) return
    this.#open -= 1
    if (own.size === 0) this.#byAddress.delete(address)
  }
}
