import type { CompiledQuery, QueryResult } from 'kysely'

/** What of one user goes to the database together. */
export interface Group {
  /** Locks the user's row until the transaction ends. */
  readonly lock: CompiledQuery
  /**
   * Asked once the lock is held: statements of which each takes effect whole or not at all, so that none has to be undone
   * because of another's answer.
   */
  readonly take: () => readonly CompiledQuery[]
}

/**
 * Runs the statements in one transaction that is durable when it resolves, without waiting for the answer of one before
 * the next is sent; resolves with the answer of each. When it rejects because of one of them, none has taken effect.
 */
export type RunTogether = (group: Group) => Promise<readonly QueryResult<unknown>[]>
