import { type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import {
  type Clock,
  type Holding,
  holdingOf,
  type LedgerTx,
  type SqlContext,
  run,
} from './ledger-sql.ts'
import { FILE_COLUMNS } from './rows.ts'

/** A row with the time at which it was read, by the database's clock. */
export type TimedFile = File & { readonly now: number }

export async function fileNamed(
  tx: LedgerTx,
  { userId, name }: { readonly userId: UserId; readonly name: FileName },
): Promise<Holding> {
  const [row] = await readFiles(tx, { userId, names: [name] })
  return holdingOf(row, row?.now ?? 0)
}

/** The rows of these names, in any order. */
export async function readFiles(
  tx: LedgerTx,
  { userId, names }: { readonly userId: UserId; readonly names: readonly FileName[] },
): Promise<readonly TimedFile[]> {
  const [name, ...others] = names
  if (name === undefined) return []
  if (others.length === 0) return (await run(tx, selectNamed, { userId, name })).rows
  return (await run(tx, selectAll, { userId, names: tx.textList.valueOf(names) })).rows
}

function selectNamed(
  slot: Slot<{ readonly userId: UserId; readonly name: FileName }>,
  context: SqlContext,
): RawBuilder<TimedFile> {
  return selectFiles(context, sql`user_id = ${slot('userId')} AND name = ${slot('name')}`)
}

function selectAll(
  slot: Slot<{ readonly userId: UserId; readonly names: unknown }>,
  context: SqlContext,
): RawBuilder<TimedFile> {
  const isNamed = context.textList.has(slot('names'), sql`name`)
  return selectFiles(context, sql`user_id = ${slot('userId')} AND ${isNamed}`)
}

function selectFiles({ now }: Clock, where: RawBuilder<unknown>): RawBuilder<TimedFile> {
  return sql<TimedFile>`SELECT ${FILE_COLUMNS}, ${now} AS now FROM files WHERE ${where}`
}
