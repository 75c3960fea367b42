import { type RawBuilder, sql } from 'kysely'
import type { Piece } from '../../core/resumable/append-store.ts'
import type {
  Claim,
  ClaimAppend,
  ClaimResumable,
  EndFinish,
  NamedClaim,
  NamedResumable,
  ResumableUpload,
} from '../../core/resumable/resumable-ledger.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { PieceRow, ResumableUploadRow } from '../schema.ts'
import { inline, type Slot } from '../statement.ts'
import {
  bigint,
  type Clock,
  inactiveReason,
  isActive,
  type LedgerTx,
  lockUser,
  type UploadId,
} from '../ledger/ledger-sql.ts'
import {
  findRow,
  isLeased,
  RESUMABLE_COLUMNS,
  type ResumableRow,
  toPiece,
  toResumable,
} from './rows.ts'
import { isRenewalDue, journalTail, leaveTailKey, mostTailBytes, renewTails } from './tails.ts'

export async function claimAppend(tx: LedgerTx, claim: ClaimAppend): Promise<Claim | undefined> {
  const { userId, version, offset, tailKey } = claim
  const rowClaim = appendClaim(inline(claim))
  const mayLeave = await lockIfTailIsLeft(tx, claim)
  const where = mayLeave ? rowClaim.where : sql`${rowClaim.where} AND tail_key IS NULL`
  const claimed = await claimLocked(tx, claim, { ...rowClaim, where })
  if (claimed === undefined) return undefined
  const { before, after } = claimed
  // Pieces hold the bytes below the offset, so there are none at first.
  const tail = offset === 0 ? [] : await findTail(tx, after)
  const left = before.tail_key
  if (left !== null) {
    await leaveTailKey(tx, { userId, version, key: left, bytes: mostTailBytes(before) })
  }
  if (tailKey !== undefined) {
    await journalTail(sql`${tailKey}`, bigint(after.lease_until)).execute(tx.db)
  }
  return { upload: toResumable(after), tail }
}

/** The tail key of an append that did not release the upload is counted, under the user's lock. */
async function lockIfTailIsLeft(tx: LedgerTx, claim: ClaimAppend): Promise<boolean> {
  if (tx.forUpdate === undefined) return true
  const found = await findRow(tx, claim)
  if ((found?.tail_key ?? null) === null) return false
  await lockUser(tx, claim.userId)
  return true
}

export async function claimFinish(
  tx: LedgerTx,
  claim: ClaimResumable,
): Promise<ResumableUpload | undefined> {
  const claimed = await claimLocked(tx, claim, { where: sql`sealed_at IS NOT NULL` })
  return claimed && toResumable(claimed.after)
}

interface RowClaim {
  /** Further columns, after a comma. */
  readonly set?: RawBuilder<unknown> | undefined
  readonly from?: RawBuilder<unknown>
  readonly where: RawBuilder<unknown>
}

/** What the claim of an append sets and demands of the row. An epoch or state that is `undefined` is not compared or set. */
export function appendClaim(slot: Slot<ClaimAppend>): RowClaim {
  return {
    set: sql`, tail_key = ${slot('tailKey')},
      store_state = COALESCE(${slot('storeState')}, store_state)`,
    where: sql`sealed_at IS NULL AND received_bytes = ${slot('offset')}
      AND epoch = COALESCE(CAST(${slot('epoch')} AS BIGINT), epoch)`,
  }
}

/** SQL that claims the row if nobody holds it, as rows of `RESUMABLE_COLUMNS`. */
export function claimRow(
  { now }: Clock,
  slot: Slot<ClaimResumable>,
  { set = sql``, from = sql``, where }: RowClaim,
): RawBuilder<ResumableUploadRow> {
  const createdAt = sql<number>`CAST(${slot('userCreatedAt')} AS BIGINT)`
  return sql`
    UPDATE resumable_uploads
    SET epoch = epoch + 1, holder = ${slot('holder')}, holder_until = ${now} + ${slot('holderMs')},
        stop_asked = 0${set}
    ${from}
    WHERE resumable_uploads.version = ${slot('version')}
      AND resumable_uploads.user_id = ${slot('userId')} AND ${where}
      AND (holder IS NULL OR holder_until <= ${now})
      AND ${isActive(createdAt, sql`resumable_uploads.user_id`)}
    RETURNING ${RESUMABLE_COLUMNS}
  `
}

interface Claimed {
  readonly before: ResumableRow
  readonly after: ResumableRow
}

async function claimLocked(
  tx: LedgerTx,
  claim: ClaimResumable,
  rowClaim: RowClaim,
): Promise<Claimed | undefined> {
  const { version, holderMs } = claim
  // Only transactions with this lock change the holder, so the row that is read next stays current.
  const isLocked = (await lockUpload(tx, claim)) !== undefined
  const before = isLocked ? await findRow(tx, claim) : undefined
  const update = claimRow(tx, inline(claim), rowClaim)
  const claimed = before && (await update.execute(tx.db))
  const row = claimed?.rows[0]
  if (before === undefined || row === undefined) {
    const inactive = await inactiveReason(tx, claim)
    if (inactive !== undefined) throw inactive
    return undefined
  }
  const { ends_at: endsAt, lease_until: leaseUntil } = before
  const isLeased = leaseUntil - before.now > holderMs + MARGIN_MS
  const prolonged = isLeased
    ? undefined
    : await prolong(tx, { version, endsAt, leaseUntil, ms: holderMs })
  return { before, after: { ...before, ...row, lease_until: prolonged ?? leaseUntil } }
}

/** A lease that lasts so much longer than was asked need not be prolonged. */
export const MARGIN_MS = 60_000

/** Locks the upload's row until the transaction ends. Returns its lease; `undefined` if it has ended or expired. */
export async function lockUpload(
  { db, now, forUpdate }: LedgerTx,
  { userId, version }: NamedResumable,
): Promise<number | undefined> {
  const { rows } = await sql<{ readonly lease_until: number }>`
    SELECT lease_until FROM uploads
    WHERE ${isUnfinished(inline({ userId, version }))} AND ${isLeased({ now })}
    ${forUpdate ?? sql``}
  `.execute(db)
  return rows[0]?.lease_until
}

/**
 * SQL for whether the row of `uploads` is that upload, and has not ended. No index but that of the version serves it:
 * with a plan from a time of few rows, PostgreSQL would read all pending uploads.
 */
export function isUnfinished(slot: Slot<UploadId>): RawBuilder<boolean> {
  return sql<boolean>`
    uploads.version = ${slot('version')} AND CASE
      WHEN uploads.user_id = ${slot('userId')} AND uploads.state = 'pending' THEN 1 ELSE 0
    END = 1
  `
}

interface Prolonged {
  readonly version: Version
  readonly endsAt: number
  /** Of the row, which is locked. */
  readonly leaseUntil: number
  readonly ms: number
}

/**
 * Extends the lease to `ms` from now, but not beyond the end of the upload. Never shortens it. Returns the lease if it
 * has changed.
 */
export async function prolong(
  tx: LedgerTx,
  { version, endsAt, leaseUntil, ms }: Prolonged,
): Promise<number | undefined> {
  const { db, now } = tx
  const until = leaseFor(now, { ms: bigint(ms), endsAt: bigint(endsAt) })
  const { rows } = await sql<{ readonly lease_until: number }>`
    UPDATE uploads SET lease_until = ${until} WHERE version = ${version} AND lease_until < ${until}
    RETURNING lease_until
  `.execute(db)
  const prolonged = rows[0]?.lease_until
  if (prolonged !== undefined && isRenewalDue(leaseUntil, prolonged)) {
    await renewTails(tx, { version, leaseUntil: prolonged })
  }
  return prolonged
}

/** SQL for the end of a lease of `ms` from now, but not beyond the end of the upload. */
export function leaseFor(
  now: RawBuilder<number>,
  { ms, endsAt }: { readonly ms: RawBuilder<number>; readonly endsAt: RawBuilder<number> },
): RawBuilder<number> {
  return sql<number>`CASE WHEN ${now} + ${ms} < ${endsAt} THEN ${now} + ${ms} ELSE ${endsAt} END`
}

/** The pieces after the last full part. The last part of all is one if an append stored it and did not seal. */
async function findTail({ db }: LedgerTx, upload: ResumableRow): Promise<readonly Piece[]> {
  const { version, received_bytes: offset, part_size: partSize } = upload
  const tail = selectTail(sql`${version}`, bigint(offset - (offset % partSize)))
  const { rows } = await sql<PieceRow>`${tail} ORDER BY first_byte`.execute(db)
  return rows.map(toPiece)
}

export function selectTail(
  version: RawBuilder<unknown>,
  from: RawBuilder<number>,
): RawBuilder<PieceRow> {
  return sql<PieceRow>`
    SELECT first_byte, size, receipt, object_key FROM upload_pieces
    WHERE upload_pieces.version = ${version} AND first_byte >= ${from}
  `
}

export async function endFinish({ db }: LedgerTx, finish: EndFinish): Promise<void> {
  const { userId, version, epoch, refusal, sha256 } = finish
  await sql`
    UPDATE resumable_uploads
    SET sha256 = COALESCE(sha256, ${sha256 ?? null}), refusal = ${refusal ?? null},
        holder = NULL, holder_until = 0, stop_asked = 0
    WHERE version = ${version} AND user_id = ${userId} AND epoch = ${epoch}
      AND sealed_at IS NOT NULL
  `.execute(db)
}

export async function askToStop(
  { db }: LedgerTx,
  { userId, version }: NamedResumable,
): Promise<void> {
  await sql`
    UPDATE resumable_uploads SET stop_asked = 1
    WHERE version = ${version} AND user_id = ${userId} AND holder IS NOT NULL
      AND sealed_at IS NULL
  `.execute(db)
}

/** Keeps the holder, so that the next append takes over. */
export async function fence(
  { db }: LedgerTx,
  { userId, version, epoch }: NamedClaim,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE resumable_uploads SET epoch = epoch + 1, holder_until = 0
    WHERE version = ${version} AND user_id = ${userId} AND sealed_at IS NULL AND epoch = ${epoch}
  `.execute(db)
  return numAffectedRows === 1n
}
