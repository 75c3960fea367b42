/** Holds requests back before they begin, while it is shut. */
export class RequestGate {
  #isShut = false
  #waiting: (() => void)[] = []

  /** Calls `begin` at once, or when the gate opens. */
  pass(begin: () => void): void {
    if (this.#isShut) this.#waiting.push(begin)
    else begin()
  }

  /** Shuts the gate until what is returned is disposed of. */
  shut(): Disposable {
    this.#isShut = true
    return { [Symbol.dispose]: () => this.#open() }
  }

  #open(): void {
    this.#isShut = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const begin of waiting) begin()
  }
}
