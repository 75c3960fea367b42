/** A clock that stands still, so that a recording says the same times whenever it is made. */
export class Clock {
  #now = Date.UTC(2026, 10, 21, 12)

  readonly now = (): number => this.#now

  date(): Date {
    return new Date(this.#now)
  }

  /** Lets a minute pass. */
  advance(): void {
    this.#now += 60_000
  }
}
