import type { EndPosition } from '../../core/history/history-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'

/**
 * Up to where, oldest end first, a user's versions are all protected, so that the next search for others begins there.
 * An end never comes to stand before an earlier one. In the memory of the process, which may forget it.
 */
export class PassedOver {
  readonly #ends = new Map<UserId, EndPosition>()

  endFor(userId: UserId): EndPosition | undefined {
    return this.#ends.get(userId)
  }

  remember(userId: UserId, end: EndPosition): void {
    this.#ends.delete(userId)
    const [first] = this.#ends.keys()
    if (this.#ends.size >= MAX_KEPT && first !== undefined) this.#ends.delete(first)
    this.#ends.set(userId, end)
  }

  forget(userId: UserId): void {
    this.#ends.delete(userId)
  }
}

const MAX_KEPT = 1_000
