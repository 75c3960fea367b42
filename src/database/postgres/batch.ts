import type { CompiledQuery, QueryResult } from 'kysely'

/** What goes to the database in one transaction. */
export interface Batch {
  /** Locks rows until the transaction ends. Where it answers none nothing is locked, and nothing is sent. */
  readonly lock: CompiledQuery
  /**
   * Given the rows that are locked: statements of which each takes effect whole or not at all, so that none has to be undone
   * because of another's answer. Asked again when the transaction is repeated.
   */
  readonly take: (locked: readonly unknown[]) => readonly CompiledQuery[]
}

/**
 * Runs the statements in one transaction that is durable when it resolves, without waiting for the answer of one before
 * the next is sent; resolves with the answer of each, or `undefined` when it is certain that none has taken effect.
 */
export type RunBatch = (batch: Batch) => Promise<readonly QueryResult<unknown>[] | undefined>
