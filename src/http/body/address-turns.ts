import type { ClientAddress } from '../../core/auth/client-address.ts'

/** A queue in which client addresses take turns, so that the many connections of one do not delay those of another. */
export class AddressTurns<T> {
  readonly #waiting = new Map<ClientAddress, Set<T>>()

  add(address: ClientAddress, item: T): void {
    const items = this.#waiting.get(address) ?? new Set()
    this.#waiting.set(address, items.add(item))
  }

  delete(address: ClientAddress, item: T): void {
    const items = this.#waiting.get(address)
    items?.delete(item)
    if (items?.size === 0) this.#waiting.delete(address)
  }

  /** Removes the first item of the address whose turn it is. */
  take(): T | undefined {
    for (const [address, items] of this.#waiting) {
      this.#waiting.delete(address)
      for (const item of items) {
        items.delete(item)
        // Behind all others.
        if (items.size > 0) this.#waiting.set(address, items)
        return item
      }
    }
    return undefined
  }
}
