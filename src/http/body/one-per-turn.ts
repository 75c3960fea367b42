/** Runs at most one task in each event-loop turn, in order. A lone task runs at once. */
export class OnePerTurn {
  readonly #waiting = new Set<() => void>()
  #isTaken = false

  run(task: () => void): void {
    if (this.#isTaken) this.#waiting.add(task)
    else this.#take(task)
  }

  cancel(task: () => void): void {
    this.#waiting.delete(task)
  }

  #take(task: () => void): void {
    this.#isTaken = true
    setImmediate(() => {
      this.#isTaken = false
      const [next] = this.#waiting
      if (next === undefined) return
      this.#waiting.delete(next)
      this.#take(next)
    })
    task()
  }
}
