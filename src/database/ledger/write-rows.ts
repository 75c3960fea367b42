import { sql } from 'kysely'
import type { FileChange } from '../../core/files/file-change.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { countProtected, protect, type ProtectedFile } from './protection.ts'
import { changedRows } from './changed-rows.ts'
import { garbageBytes } from './counted-bytes.ts'
import { discardObjects } from './garbage.ts'
import { insertion } from './insert-rows.ts'
import { type LedgerTx, type SqlContext, run } from './ledger-sql.ts'
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
  /** The narrow credential that makes them. */
  readonly credential: string | undefined
  /** The date of the commit. */
  readonly at: number
}

/** Writes the net effect of the changes on `files`, `history` and `garbage`, in few statements. */
export async function writeRows(
  tx: LedgerTx,
  { userId, changes, credential, at }: Written,
): Promise<void> {
  const { cleared, written, restored, past, garbage } = changedRows(tx, { changes, credential, at })
  await deleteFiles(tx, { userId, names: cleared })
  await insertFiles(tx, written)
  await countProtected(tx, { userId, bytes: -(await deletePast(tx, restored)) })
  await insertPast(tx, await protect(tx, { userId, past }))
  await discardObjects(
    tx,
    garbage.map(({ objectKey, size }) => ({ objectKey, userId, size })),
  )
}

/** Replaces a file of the same name. */
const insertFiles = insertion<File>(
  MEMBERS_OF_FILE,
  (slot) => sql`(${fileValues(slot)})`,
  (rows) => sql`${INSERT_FILE} VALUES ${rows} ${OVERWRITE_FILE}`,
)

const insertPast = insertion<ProtectedFile>(
  [...MEMBERS_OF_VERSION, 'endedAt', 'endedAs', 'expiresAt', 'storedBy', 'endedBy', 'isProtected'],
  (slot) => sql`
    (${versionValues(slot)}, ${slot('endedAt')}, ${slot('endedAs')}, ${slot('expiresAt')},
     ${slot('storedBy')}, ${slot('endedBy')}, ${slot('isProtected')})
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
  { textList }: SqlContext,
) {
  const isNamed = textList.has(slot('names'), sql`name`)
  return sql`DELETE FROM files WHERE user_id = ${slot('userId')} AND ${isNamed}`
}

/** Takes versions out of the history. Resolves to the bytes of those that are protected, which it does not count. */
export async function deletePast(tx: LedgerTx, versions: readonly Version[]): Promise<number> {
  const [version, ...others] = versions
  if (version === undefined) return 0
  const { rows } =
    others.length === 0
      ? await run(tx, deleteVersion, { version })
      : await run(tx, deleteVersions, { versions: tx.textList.valueOf(versions) })
  return rows.reduce((sum, { isProtected, bytes }) => sum + (isProtected === 1 ? bytes : 0), 0)
}

interface PastBytes {
  readonly isProtected: number
  readonly bytes: number
}

const PAST_BYTES = sql`is_protected AS "isProtected", ${garbageBytes(sql`size`)} AS bytes`

function deleteVersion(slot: Slot<{ readonly version: Version }>) {
  return sql<PastBytes>`
    DELETE FROM history WHERE version = ${slot('version')} RETURNING ${PAST_BYTES}
  `
}

function deleteVersions(slot: Slot<{ readonly versions: unknown }>, { textList }: SqlContext) {
  return sql<PastBytes>`
    DELETE FROM history WHERE ${textList.has(slot('versions'), sql`version`)} RETURNING ${PAST_BYTES}
  `
}
