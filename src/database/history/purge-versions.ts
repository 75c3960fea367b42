import { type RawBuilder, sql } from 'kysely'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import { discardObjects, discardForDeletedUser } from '../ledger/garbage.ts'
import { countHistory, withOverhead } from '../ledger/counted-bytes.ts'
import { deletePast } from '../ledger/write-rows.ts'
import type { HistoryRow } from '../schema.ts'

interface Purged {
  readonly userId: UserId
  readonly rows: readonly PurgedRow[]
  /** The garbage of a deleted user counts against nobody. */
  readonly isUserDeleted?: boolean
}

export type PurgedRow = Pick<HistoryRow, 'version' | 'object_key' | 'size' | 'ended_by'>

/** Under the user's lock. */
export async function purgeVersions(tx: LedgerTx, purged: Purged): Promise<number> {
  const { userId, rows, isUserDeleted = false } = purged
  if (rows.length === 0) return 0
  const owner = isUserDeleted ? null : userId
  const objects = rows.map(({ object_key: objectKey, size }) => ({
    objectKey,
    userId: owner,
    size,
  }))
  await (isUserDeleted ? discardForDeletedUser : discardObjects)(tx, objects)
  const versions = rows.map(({ version }) => version)
  const spared = await deletePast(tx, versions)
  const bytes = rows.reduce((sum, { size }) => sum + withOverhead(size), 0)
  const counted = countHistory(tx, {
    bytes: sql`${-bytes}`,
    versions: sql`${-rows.length}`,
    protectedBytes: sql`${-spared}`,
  })
  await sql`UPDATE quotas SET ${counted} WHERE user_id = ${userId}`.execute(tx.db)
  return rows.length
}

interface Selected {
  readonly userId: UserId
  readonly limit: number
  readonly where?: RawBuilder<unknown>
  readonly order?: RawBuilder<unknown> | undefined
}

/** Oldest end first, unless `order` says otherwise. */
export async function versionsToPurge(
  { db }: LedgerTx,
  { userId, limit, where = sql`1 = 1`, order = sql`ended_at, version` }: Selected,
): Promise<readonly PurgedRow[]> {
  const { rows } = await sql<PurgedRow>`
    SELECT version, object_key, size, ended_by FROM history
    WHERE user_id = ${userId} AND ${where} ORDER BY ${order} LIMIT ${limit}
  `.execute(db)
  return rows
}

export async function purgeHistoryOfDeleted(
  tx: LedgerTx,
  { userId, limit }: { readonly userId: UserId; readonly limit: number },
): Promise<number> {
  const rows = await versionsToPurge(tx, { userId, limit })
  return await purgeVersions(tx, { userId, rows, isUserDeleted: true })
}

export function ofVersions(versions: readonly Version[]): RawBuilder<unknown> {
  return sql`version IN (${sql.join(versions)})`
}
