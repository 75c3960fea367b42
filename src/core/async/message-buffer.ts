/** Hands over the items of one event-loop iteration together, in order; `schedule` can choose another moment. */
export class MessageBuffer<T> {
  #items: T[] = []
  readonly #take: (items: readonly T[]) => void
  readonly #schedule: (flush: () => void) => void

  constructor(
    take: (items: readonly T[]) => void,
    schedule: (flush: () => void) => void = setImmediate,
  ) {
    this.#take = take
    this.#schedule = schedule
  }

  add(item: T): void {
    if (this.#items.push(item) === 1) this.#schedule(() => this.flush())
  }

  flush(): void {
    const items = this.#items
    this.#items = []
    if (items.length > 0) this.#take(items)
  }
}
