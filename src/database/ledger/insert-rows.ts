import { type RawBuilder, sql } from 'kysely'
import type { Build, Slot } from '../statement.ts'
import { type LedgerTx, type SqlContext, run } from './ledger-sql.ts'

/** Inserts any number of rows, by few statements that are compiled once. */
export type InsertRows<V> = (tx: LedgerTx, rows: readonly V[]) => Promise<void>

/**
 * `members` are those of a row that the statement takes. `rowOf` builds the values of a row, in parentheses, and
 * `around` the statement around rows. The result is a constant, as what `run` takes: to compile a statement of many
 * rows takes longer than to run it.
 */
export function insertion<V extends object>(
  members: readonly (keyof V)[],
  rowOf: (slot: Slot<V>, context: SqlContext) => RawBuilder<unknown>,
  around: (rows: RawBuilder<unknown>) => RawBuilder<unknown>,
): InsertRows<V> {
  const sizes = SIZES.map((size) => {
    const places = Array.from({ length: size }, (_, at) => at)
    const build: Build<SqlContext, Values, unknown> = (slot, context) =>
      around(sql.join(places.map((at) => rowOf(slotAt(slot, members, at), context))))
    return { size, build }
  })
  const single = sizes.at(-1)
  return async (tx, rows) => {
    const [row] = rows
    if (single !== undefined && row !== undefined && rows.length === single.size) {
      await run(tx, single.build, valuesOf(row, members))
      return
    }
    let done = 0
    for (const { size, build } of sizes) {
      for (; rows.length - done >= size; done += size) {
        const page = rows.slice(done, done + size)
        await run(
          tx,
          build,
          page.flatMap((each) => valuesOf(each, members)),
        )
      }
    }
  }
}

/** A row has at most 19 values, so no statement has more parameters than SQLite allows. */
const SIZES = [250, 100, 50, 20, 10, 5, 2, 1] as const

/** The values of rows, one row after the other. */
type Values = readonly unknown[]

function slotAt<V>(slot: Slot<Values>, members: readonly (keyof V)[], at: number): Slot<V> {
  return <K extends keyof V>(member: K) => {
    const place = members.indexOf(member)
    if (place === -1) throw new TypeError(`The statement takes no ${String(member)}`)
    return slot(at * members.length + place) as RawBuilder<V[K]>
  }
}

function valuesOf<V>(row: V, members: readonly (keyof V)[]): Values {
  return members.map((member) => row[member])
}
