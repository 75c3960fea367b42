/** A map that forgets: of more than `max` entries, the one that was set longest ago goes. */
export class BoundedMap<K, V> {
  readonly #max: number
  readonly #entries = new Map<K, V>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest)
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#entries[Symbol.iterator]()
  }
}
