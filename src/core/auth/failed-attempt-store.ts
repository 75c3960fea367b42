import type { ClientAddress } from './client-address.ts'
import type { FailedAttemptCount } from './failed-attempts.ts'

/** Counts shared by all instances, in milliseconds by the database's clock. */
export interface SharedCounts {
  readonly counts: ReadonlyMap<ClientAddress, FailedAttemptCount>
  /** When the counts were read. */
  readonly now: number
}

/** PORT: failed attempts by address, shared by all instances. Stores nothing about the tokens. */
export interface FailedAttemptStore {
  /**
   * Guarantees that each of at most 500 addresses gets the count that `next` returns for its previous count, serialized
   * across all instances. Returns the new counts. `next` must be pure and may be called more than once. If `next`
   * returns the count that it was given, that count is not written. Rejects with `unavailable`.
   */
  update(
    addresses: readonly ClientAddress[],
    next: (address: ClientAddress, before: FailedAttemptCount, now: number) => FailedAttemptCount,
  ): Promise<SharedCounts>

  /** Deletes up to `limit` expired counts and returns how many it deleted. Rejects with `unavailable`. */
  forgetExpired(limit: number): Promise<number>
}
