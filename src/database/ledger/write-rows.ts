import { sql } from 'kysely'
import { chunks } from '../../core/async/chunks.ts'
import type { FileChange } from '../../core/files/change.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { changedRows, type EndedFile } from './changed-rows.ts'
import { discardObjects } from './garbage.ts'
import { insertion, insertRows, MOST_SINGLE, ROWS_AT_ONCE } from './insert-rows.ts'
import { type LedgerTx, run } from './ledger-sql.ts'
import { fileValues, INSERT_FILE, INSERT_PAST, OVERWRITE_FILE, versionValues } from './rows.ts'

interface Written {
  readonly userId: UserId
  readonly changes: readonly FileChange[]
  /** The date of the commit. */
  readonly at: number
  readonly garbageDelayMs: number
}

/** Writes the net effect of the changes on `files`, `history` and `garbage`, in few statements. */
export async function writeRows(
  tx: LedgerTx,
  { userId, changes, at, garbageDelayMs }: Written,
): Promise<void> {
  const { cleared, written, restored, past, garbage } = changedRows(tx, { changes, at })
  await deleteFiles(tx, { userId, names: cleared })
  await insertRows(tx, written, FILES)
  await deletePast(tx, restored)
  await insertRows(tx, past, PAST)
  await discardObjects(
    tx,
    garbage.map(({ objectKey, size }) => ({ objectKey, userId, size, garbageDelayMs })),
  )
}

/** Replaces a file of the same name. */
const FILES = insertion<File>(
  (slot) => sql`(${fileValues(slot)})`,
  (rows) => sql`${INSERT_FILE} VALUES ${rows} ${OVERWRITE_FILE}`,
)

const PAST = insertion<EndedFile>(
  (slot) => sql`
    (${versionValues(slot)}, ${slot('endedAt')}, ${slot('endedAs')}, ${slot('expiresAt')})
  `,
  (rows) => sql`${INSERT_PAST} VALUES ${rows}`,
)

async function deleteFiles(
  tx: LedgerTx,
  { userId, names }: { readonly userId: UserId; readonly names: readonly FileName[] },
): Promise<void> {
  if (names.length <= MOST_SINGLE) {
    for (const name of names) await run(tx, deleteFile, { userId, name })
    return
  }
  for (const page of chunks(names, ROWS_AT_ONCE)) {
    await sql`
      DELETE FROM files WHERE user_id = ${userId} AND name IN (${sql.join(page)})
    `.execute(tx.db.withoutPlugins())
  }
}

function deleteFile(slot: Slot<{ readonly userId: UserId; readonly name: FileName }>) {
  return sql`DELETE FROM files WHERE user_id = ${slot('userId')} AND name = ${slot('name')}`
}

/** Takes versions out of the history. */
export async function deletePast(tx: LedgerTx, versions: readonly Version[]): Promise<void> {
  if (versions.length <= MOST_SINGLE) {
    for (const version of versions) await run(tx, deleteVersion, { version })
    return
  }
  for (const page of chunks(versions, ROWS_AT_ONCE)) {
    await sql`DELETE FROM history WHERE version IN (${sql.join(page)})`.execute(
      tx.db.withoutPlugins(),
    )
  }
}

function deleteVersion(slot: Slot<{ readonly version: Version }>) {
  return sql`DELETE FROM history WHERE version = ${slot('version')}`
}
