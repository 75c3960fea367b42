import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { getHeapStatistics } from 'node:v8'
import { type ClientAddress, parseClientAddress } from '../../core/auth/client-address.ts'

/** What one holds without a token: its objects, a head of 16 KiB, and a slice of a body in small chunks. */
const BYTES_PER_CONNECTION = 128 * 1024

/** Half of the descriptors are left for files, and for connections to the database and the object store. */
const SHARE_OF_DESCRIPTORS = 1 / 2

/** As many as the heap has room for: 4,480 in a container of 1 GiB, 32,000 with a heap of 4 GiB. */
export function defaultMaxConnections(): number {
  const { heap_size_limit } = getHeapStatistics()
  const byHeap = heap_size_limit / BYTES_PER_CONNECTION
  return Math.floor(Math.min(byHeap, maxDescriptors() * SHARE_OF_DESCRIPTORS))
}

/** Of this process; `Infinity` if the system does not tell. At its start, Node has raised it to the hard limit. */
export function maxDescriptors(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft ?? Infinity)
  } catch {
    return Infinity
  }
}

/** A client can open thousands a second, and none of its others may be idle. */
const MAX_LOOKED = 100

export interface ConnectionSlotsOptions {
  readonly max: number
  /** Whether the connection has no request in progress. */
  readonly isIdle: (socket: Socket) => boolean
}

/**
 * Bounds the open connections. One too many closes, of the client address that has most, the oldest one; if one of its
 * hundred oldest has no request, that one. So one client cannot keep the others out.
 */
export class ConnectionSlots {
  readonly #options: ConnectionSlotsOptions
  readonly #byAddress = new Map<ClientAddress, Set<Socket>>()
  #open = 0

  constructor(options: ConnectionSlotsOptions) {
    this.#options = options
  }

  /** Returns the connection that must close instead. */
  take(socket: Socket): Socket | undefined {
    const address = parseClientAddress(socket.remoteAddress ?? '')
    const own = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, own.add(socket))
    this.#open += 1
    socket.once('close', () => this.#leave(address, socket))
    if (this.#open <= this.#options.max) return undefined
    let [crowded, most] = [address, own]
    for (const [other, sockets] of this.#byAddress) {
      if (sockets.size > most.size) [crowded, most] = [other, sockets]
    }
    const closing = this.#closingOf(most)
    // At once: its `close` comes later.
    if (closing !== undefined) this.#leave(crowded, closing)
    return closing
  }

  #closingOf(sockets: ReadonlySet<Socket>): Socket | undefined {
    const [oldest] = sockets
    let looked = 0
    for (const each of sockets) {
      if (this.#options.isIdle(each)) return each
      looked += 1
      if (looked === MAX_LOOKED) break
    }
    return oldest
  }

  #leave(address: ClientAddress, socket: Socket): void {
    const own = this.#byAddress.get(address)
    if (own?.delete(socket) !== true) return
    this.#open -= 1
    if (own.size === 0) this.#byAddress.delete(address)
  }
}
