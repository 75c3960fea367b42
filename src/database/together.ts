import type { CompiledQuery, QueryResult } from 'kysely'

/** What of one user goes to the database together. */
export interface Group {
  /** Locks the user's row until the transaction ends. Where it answers no row nothing is locked, and nothing is sent. */
  readonly lock: CompiledQuery
  /**
   * Asked when the lock has been answered: statements of which each takes effect whole or not at all, so that none has to be
   * undone because of another's answer. Asked again when the transaction is repeated, and answers the same.
   */
  readonly take: () => readonly CompiledQuery[]
}

/**
 * Runs the statements in one transaction that is durable when it resolves, without waiting for the answer of one before
 * the next is sent; resolves with the answer of each, or `undefined` when it is certain that none has taken effect.
 */
export type RunTogether = (group: Group) => Promise<readonly QueryResult<unknown>[] | undefined>
