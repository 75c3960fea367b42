/**
 * Shares a budget of each iteration of the event loop between owners: short blocking work runs until it has taken
 * `budgetMs` of it, and the rest in later iterations. Owners take turns, and the work of one runs in call order. So
 * other work never waits for more than one piece beyond the budget.
 */
export class LoopTurns {
  readonly #budgetMs: number
  readonly #waiting = new Map<string, Set<() => void>>()
  #spentMs = 0
  #isServing = false
  #isRenewing = false

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs
  }

  /** Runs `work` now if nothing else waits and the iteration has time left. Does nothing if it waits already. */
  add(owner: string, work: () => void): void {
    const own = this.#waiting.get(owner) ?? new Set()
    this.#waiting.set(owner, own.add(work))
    this.#serve()
    this.#renew()
  }

  #serve(): void {
    if (this.#isServing) return
    this.#isServing = true
    try {
      while (this.#spentMs < this.#budgetMs) {
        const work = this.#take()
        if (work === undefined) break
        const began = performance.now()
        work()
        this.#spentMs += performance.now() - began
      }
    } finally {
      this.#isServing = false
    }
  }

  /** Removes the first work of the owner whose turn it is. */
  #take(): (() => void) | undefined {
    for (const [owner, own] of this.#waiting) {
      this.#waiting.delete(owner)
      for (const work of own) {
        own.delete(work)
        // Behind all others.
        if (own.size > 0) this.#waiting.set(owner, own)
        return work
      }
    }
    return undefined
  }

  #renew(): void {
    if (this.#isRenewing) return
    this.#isRenewing = true
    setImmediate(() => {
      this.#isRenewing = false
      this.#spentMs = 0
      if (this.#waiting.size === 0) return
      this.#serve()
      this.#renew()
    })
  }
}
