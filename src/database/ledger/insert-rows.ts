import { type RawBuilder, sql } from 'kysely'
import { chunks } from '../../core/async/chunks.ts'
import { type Build, inline, type Slot } from '../statement.ts'
import { type LedgerTx, type Rule, run } from './ledger-sql.ts'

/** How rows of one kind are inserted. A constant, as what `run` takes. */
export interface Insertion<V> {
  readonly one: Build<Rule, V, unknown>
  readonly many: (rows: readonly V[], rule: Rule) => RawBuilder<unknown>
}

/** `rowOf` builds the values of a row, in parentheses, and `around` the statement around rows. */
export function insertion<V>(
  rowOf: (slot: Slot<V>, rule: Rule) => RawBuilder<unknown>,
  around: (rows: RawBuilder<unknown>) => RawBuilder<unknown>,
): Insertion<V> {
  return {
    one: (slot, rule) => around(rowOf(slot, rule)),
    many: (rows, rule) => around(sql.join(rows.map((row) => rowOf(inline(row), rule)))),
  }
}

/** Inserts a few rows by the prepared statement, and many by as few statements as possible. */
export async function insertRows<V>(
  tx: LedgerTx,
  rows: readonly V[],
  { one, many }: Insertion<V>,
): Promise<void> {
  if (rows.length <= MOST_SINGLE) {
    for (const row of rows) await run(tx, one, row)
    return
  }
  for (const page of chunks(rows, ROWS_AT_ONCE)) await many(page, tx).execute(dbFor(tx, rows))
}

/** For a statement that names as many rows: with the plugin, each number of many would prepare another statement. */
export function dbFor({ db }: LedgerTx, rows: readonly unknown[]): LedgerTx['db'] {
  return rows.length <= MOST_SINGLE ? db : db.withoutPlugins()
}

export const MOST_SINGLE = 2

/** A row has at most 13 values, so no statement has more parameters than SQLite allows. */
export const ROWS_AT_ONCE = 250
