import type { ClientAddress } from '../../core/auth/client-address.ts'
import { AddressTurns } from './address-turns.ts'

/** Runs at most one task in each event-loop turn; client addresses take turns. A lone task runs at once. */
export class OnePerTurn {
  readonly #waiting = new AddressTurns<() => void>()
  #isTaken = false

  run(address: ClientAddress, task: () => void): void {
    if (this.#isTaken) this.#waiting.add(address, task)
    else this.#take(task)
  }

  cancel(address: ClientAddress, task: () => void): void {
    this.#waiting.delete(address, task)
  }

  #take(task: () => void): void {
    this.#isTaken = true
    setImmediate(() => {
      this.#isTaken = false
      const next = this.#waiting.take()
      if (next !== undefined) this.#take(next)
    })
    task()
  }
}
