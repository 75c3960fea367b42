import { sql } from 'kysely'
import type { ChangeEvent, ChangePosition } from '../../core/changes/change.ts'
import type { ChangeLedger, ChangesRead, RecordedChange } from '../../core/changes/change-ledger.ts'
import type { CapacityState } from '../../core/quota/capacity.ts'
import type { Caller } from '../../core/users/caller.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import type { Session } from '../operations/session.ts'
import type { ChangeRow, QuotaRow } from '../schema.ts'

export const CHANGE_OPERATIONS = {
  latestChange: { through: 'query', run: latestChange, effect: 'reads' },
  readChanges: { bind: confirmedChanges, effect: 'reads' },
  latestSequences: { through: 'query', run: latestSequences, effect: 'reads' },
} as const satisfies Operations<ChangeLedger>

function confirmedChanges({ database, readInOrder }: Session): ChangeLedger['readChanges'] {
  return async (page) => {
    const read = await readInOrder((tx) => readChanges(tx, page))
    if (read !== undefined && read.changes.length > 0) await database.confirm()
    return read
  }
}

type LatestRow = Pick<QuotaRow, 'change_count' | 'changed_at'>

async function latestChange({ db }: LedgerTx, caller: Caller): Promise<ChangePosition | undefined> {
  const { rows } = await sql<LatestRow>`
    SELECT change_count, changed_at ${ofActive(caller)}
  `.execute(db)
  return rows[0] && toPosition(rows[0])
}

function ofActive({ userId, userCreatedAt }: Caller) {
  return sql`
    FROM quotas JOIN users ON users.id = quotas.user_id AND status = 'active'
      AND users.created_at = ${userCreatedAt} AND quotas.user_id = ${userId}
  `
}

function toPosition({ change_count: sequence, changed_at: at }: LatestRow): ChangePosition {
  return { sequence, at }
}

/** A row of the user's `quotas` with one of the page, or with none. */
export type ReadRow = LatestRow & { [column in keyof ChangeRow]: ChangeRow[column] | null }

async function readChanges(
  { db }: LedgerTx,
  { userId, userCreatedAt, after, limit }: Parameters<ChangeLedger['readChanges']>[0],
): Promise<ChangesRead | undefined> {
  const { rows } = await sql<ReadRow>`
    SELECT change_count, changed_at, page.* ${ofActive({ userId, userCreatedAt })}
    ${changesAfter({ userId, after, limit })}
    ORDER BY page.sequence
  `.execute(db)
  return toChangesRead(rows)
}

interface Page {
  readonly userId: UserId
  readonly after: number
  readonly limit: number
}

/** The page is cut before the join: PostgreSQL would otherwise read and sort all later changes. */
export function changesAfter({ userId, after, limit }: Page) {
  return sql`
    LEFT JOIN (
      SELECT * FROM changes WHERE user_id = ${userId} AND sequence > ${after}
      ORDER BY sequence LIMIT ${limit}
    ) AS page ON page.user_id = quotas.user_id
  `
}

export function toChangesRead(rows: readonly ReadRow[]): ChangesRead | undefined {
  const [first] = rows
  if (first === undefined) return undefined
  return { latest: toPosition(first), changes: rows.filter(hasChange).map(toChange) }
}

function hasChange(row: ReadRow): row is ReadRow & ChangeRow {
  return row.sequence !== null
}

function toChange(row: ChangeRow): RecordedChange {
  const { sequence, at, previous_at: previousAt } = row
  return { sequence, at, previousAt, ...toEvent(row) }
}

function toEvent(row: ChangeRow): ChangeEvent {
  const { type, name, version, size, sha256, visibility, capacity, used } = row
  const { media_type: mediaType, device_id: deviceId } = row
  if (isCapacityEvent(type)) return { type, capacity: capacity ?? 0, used: used ?? 0 }
  if (name === null || version === null || sha256 === null || visibility === null) {
    throw new TypeError('A change of a file has no file')
  }
  const file = { name, version, size: size ?? 0, sha256, visibility, mediaType, deviceId }
  return { type, file, previousName: row.previous_name ?? undefined }
}

function isCapacityEvent(type: ChangeRow['type']): type is `capacity.${CapacityState}` {
  return type.startsWith('capacity.')
}

async function latestSequences(
  { db }: LedgerTx,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, number>> {
  const { rows } = await sql<Pick<QuotaRow, 'user_id' | 'change_count'>>`
    SELECT user_id, change_count FROM quotas WHERE user_id IN (${sql.join(userIds)})
  `.execute(db)
  return new Map(rows.map((row) => [row.user_id, row.change_count]))
}
