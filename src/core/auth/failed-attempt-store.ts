import type { ClientAddress } from './client-address.ts'
import type { FailedAttemptCount } from './failed-attempts.ts'

/** Counts as the instances share them, in milliseconds by the database's clock. */
export interface SharedCounts {
  readonly counts: ReadonlyMap<ClientAddress, FailedAttemptCount>
  /** When they were read. */
  readonly now: number
}

/** PORT: how often addresses were wrong about tokens, on all instances together. It holds nothing of the tokens. */
export interface FailedAttemptStore {
  /**
   * Guarantees that each of these addresses, at most 500, has the count that `next` makes of the one before, of
   * any number of instances at once one after the other; and returns them. `next` is pure, and may be asked again;
   * where it answers the very count that it was given nothing is written. Rejects with `unavailable`.
   */
  update(
    addresses: readonly ClientAddress[],
    next: (address: ClientAddress, before: FailedAttemptCount, now: number) => FailedAttemptCount,
  ): Promise<SharedCounts>

  /** Forgets up to `limit` counts that have expired; says how many. Rejects with `unavailable`. */
  forgetExpired(limit: number): Promise<number>
}
