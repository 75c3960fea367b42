import type { ClientAddress } from '../../core/auth/client-address.ts'
import { AddressTurns } from './address-turns.ts'

type Task = () => void

/**
 * Runs at most one task in each event-loop turn: of each of two kinds alternately, and within a kind of each client
 * address in turn. A lone task runs at once.
 */
export class OnePerTurn<Kind extends string> {
  readonly #waiting = new Map<Kind, AddressTurns<Task>>()
  #isTaken = false

  constructor(kinds: readonly Kind[]) {
    for (const kind of kinds) this.#waiting.set(kind, new AddressTurns())
  }

  run(kind: Kind, address: ClientAddress, task: Task): void {
    if (this.#isTaken) this.#waiting.get(kind)?.add(address, task)
    else this.#take(task)
  }

  cancel(kind: Kind, address: ClientAddress, task: Task): void {
    this.#waiting.get(kind)?.delete(address, task)
  }

  #take(task: Task): void {
    this.#isTaken = true
    setImmediate(() => {
      this.#isTaken = false
      const next = this.#next()
      if (next !== undefined) this.#take(next)
    })
    task()
  }

  #next(): Task | undefined {
    for (const [kind, turns] of this.#waiting) {
      const task = turns.take()
      if (task === undefined) continue
      // Behind the other kind.
      this.#waiting.delete(kind)
      this.#waiting.set(kind, turns)
      return task
    }
    return undefined
  }
}
