import { sql } from 'kysely'
import type { FileChange } from '../../core/files/change.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { changedRows, type EndedFile } from './changed-rows.ts'
import { discardObjects } from './garbage.ts'
import { insertion } from './insert-rows.ts'
import { type LedgerTx, type Rule, run } from './ledger-sql.ts'
import {
  fileValues,
  INSERT_FILE,
  INSERT_PAST,
  MEMBERS_OF_FILE,
  MEMBERS_OF_VERSION,
  OVERWRITE_FILE,
  versionValues,
} from './rows.ts'

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
  await insertFiles(tx, written)
  await deletePast(tx, restored)
  await insertPast(tx, past)
  await discardObjects(
    tx,
    garbage.map(({ objectKey, size }) => ({ objectKey, userId, size, garbageDelayMs })),
  )
}

/** Replaces a file of the same name. */
const insertFiles = insertion<File>(
  MEMBERS_OF_FILE,
  (slot) => sql`(${fileValues(slot)})`,
  (rows) => sql`${INSERT_FILE} VALUES ${rows} ${OVERWRITE_FILE}`,
)

const insertPast = insertion<EndedFile>(
  [...MEMBERS_OF_VERSION, 'endedAt', 'endedAs', 'expiresAt'],
  (slot) => sql`
    (${versionValues(slot)}, ${slot('endedAt')}, ${slot('endedAs')}, ${slot('expiresAt')})
  `,
  (rows) => sql`${INSERT_PAST} VALUES ${rows}`,
)

async function deleteFiles(
  tx: LedgerTx,
  { userId, names }: { readonly userId: UserId; readonly names: readonly FileName[] },
): Promise<void> {
  const [name, ...others] = names
  if (name === undefined) return
  if (others.length === 0) await run(tx, deleteFile, { userId, name })
  else await run(tx, deleteNamed, { userId, names: tx.textList.valueOf(names) })
}

function deleteFile(slot: Slot<{ readonly userId: UserId; readonly name: FileName }>) {
  return sql`DELETE FROM files WHERE user_id = ${slot('userId')} AND name = ${slot('name')}`
}

function deleteNamed(
  slot: Slot<{ readonly userId: UserId; readonly names: unknown }>,
  { textList }: Rule,
) {
  const isNamed = textList.has(slot('names'), sql`name`)
  return sql`DELETE FROM files WHERE user_id = ${slot('userId')} AND ${isNamed}`
}

/** Takes versions out of the history. */
export async function deletePast(tx: LedgerTx, versions: readonly Version[]): Promise<void> {
  const [version, ...others] = versions
  if (version === undefined) return
  if (others.length === 0) await run(tx, deleteVersion, { version })
  else await run(tx, deleteVersions, { versions: tx.textList.valueOf(versions) })
}

function deleteVersion(slot: Slot<{ readonly version: Version }>) {
  return sql`DELETE FROM history WHERE version = ${slot('version')}`
}

function deleteVersions(slot: Slot<{ readonly versions: unknown }>, { textList }: Rule) {
  return sql`DELETE FROM history WHERE ${textList.has(slot('versions'), sql`version`)}`
}
