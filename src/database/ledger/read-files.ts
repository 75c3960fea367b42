import { type RawBuilder, sql } from 'kysely'
import { chunks } from '../../core/async/chunks.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { MOST_SINGLE, ROWS_AT_ONCE } from './insert-rows.ts'
import { type Clock, type LedgerTx, type Rule, run } from './ledger-sql.ts'
import { FILE_COLUMNS } from './rows.ts'

/** A row with the time at which it was read, by the database's clock. */
export type TimedFile = File & { readonly now: number }

interface Named {
  readonly userId: UserId
  readonly name: FileName
}

/** The rows of these names, in any order. */
export async function readFiles(
  tx: LedgerTx,
  { userId, names }: { readonly userId: UserId; readonly names: readonly FileName[] },
): Promise<readonly TimedFile[]> {
  const files: TimedFile[] = []
  if (names.length <= MOST_SINGLE) {
    for (const name of names) files.push(...(await run(tx, selectNamed, { userId, name })).rows)
    return files
  }
  const db = tx.db.withoutPlugins()
  for (const page of chunks(names, ROWS_AT_ONCE)) {
    const where = sql`user_id = ${userId} AND name IN (${sql.join(page)})`
    files.push(...(await selectFiles(tx, where).execute(db)).rows)
  }
  return files
}

function selectNamed(slot: Slot<Named>, rule: Rule): RawBuilder<TimedFile> {
  return selectFiles(rule, sql`user_id = ${slot('userId')} AND name = ${slot('name')}`)
}

function selectFiles({ now }: Clock, where: RawBuilder<unknown>): RawBuilder<TimedFile> {
  return sql<TimedFile>`SELECT ${FILE_COLUMNS}, ${now} AS now FROM files WHERE ${where}`
}
