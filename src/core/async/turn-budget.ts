/**
 * Runs short blocking work, in call order, until it has taken `budgetMs` of a turn of the event loop. The rest runs in
 * later turns, so that other work never waits for more than one piece beyond the budget.
 */
export class TurnBudget {
  readonly #budgetMs: number
  readonly #waiting: (() => void)[] = []
  #spentMs = 0
  #isCounting = false

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs
  }

  /** Settles as `work` does; rejects with the signal's reason if it has aborted by the time `work` would run. */
  run<T>(work: () => T, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        const began = performance.now()
        try {
          signal.throwIfAborted()
          resolve(work())
        } catch (error) {
          reject(error)
        }
        this.#spentMs += performance.now() - began
      }
      if (this.#waiting.length > 0 || this.#spentMs >= this.#budgetMs) this.#waiting.push(start)
      else start()
      this.#countTurn()
    })
  }

  #countTurn(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    setImmediate(() => {
      this.#isCounting = false
      this.#spentMs = 0
      let served = 0
      for (const start of this.#waiting) {
        if (this.#spentMs >= this.#budgetMs) break
        start()
        served += 1
      }
      this.#waiting.splice(0, served)
      if (served > 0) this.#countTurn()
    })
  }
}
