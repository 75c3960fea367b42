import { type RawBuilder, sql } from 'kysely'
import type { Piece } from '../../core/objects/append-store.ts'
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
import { bigint, isActive, type LedgerTx, lockUser, requireActive } from '../ledger/ledger-sql.ts'
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
  const { userId, version, offset, epoch = null, tailKey, storeState = null } = claim
  const mayLeave = await lockIfTailIsLeft(tx, claim)
  const claimed = await claimLocked(tx, claim, {
    set: sql`, tail_key = ${tailKey ?? null}, store_state = COALESCE(${storeState}, store_state)`,
    where: sql`sealed_at IS NULL AND received_bytes = ${offset}
      AND epoch = COALESCE(CAST(${epoch} AS BIGINT), epoch)
      ${mayLeave ? sql`` : sql`AND tail_key IS NULL`}`,
  })
  if (claimed === undefined) return undefined
  const { before, after } = claimed
  // Pieces hold the bytes below the offset, so there are none at first.
  const tail = offset === 0 ? [] : await findTail(tx, after)
  const left = before.tail_key
  if (left !== null) {
    await leaveTailKey(tx, { userId, version, key: left, bytes: mostTailBytes(before) })
  }
  if (tailKey !== undefined) await journalTail(tx, tailKey, after.lease_until)
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
  readonly set?: RawBuilder<unknown>
  readonly where: RawBuilder<unknown>
}

interface Claimed {
  readonly before: ResumableRow
  readonly after: ResumableRow
}

async function claimLocked(
  tx: LedgerTx,
  claim: ClaimResumable,
  { set = sql``, where }: RowClaim,
): Promise<Claimed | undefined> {
  const { userId, userCreatedAt, version, holder, holderMs } = claim
  // Only transactions with this lock change the holder, so the row that is read next stays current.
  const isLocked = (await lockUpload(tx, claim)) !== undefined
  const before = isLocked ? await findRow(tx, claim) : undefined
  const createdAt = bigint(userCreatedAt)
  const update = sql<ResumableUploadRow>`
    UPDATE resumable_uploads
    SET epoch = epoch + 1, holder = ${holder}, holder_until = ${tx.now} + ${holderMs},
        stop_asked = 0${set}
    WHERE version = ${version} AND user_id = ${userId} AND ${where}
      AND (holder IS NULL OR holder_until <= ${tx.now})
      AND ${isActive(createdAt, sql`resumable_uploads.user_id`)}
    RETURNING ${RESUMABLE_COLUMNS}
  `
  const claimed = before && (await update.execute(tx.db))
  const row = claimed?.rows[0]
  if (before === undefined || row === undefined) {
    await requireActive(tx, claim)
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
const MARGIN_MS = 60_000

/** Locks the upload's row until the transaction ends. Returns its lease; `undefined` if it has ended or expired. */
export async function lockUpload(
  { db, now, forUpdate }: LedgerTx,
  { userId, version }: NamedResumable,
): Promise<number | undefined> {
  // No index but that of the version serves the CASE: with a plan from a time of few rows, PostgreSQL would read all
  // pending uploads.
  const { rows } = await sql<{ readonly lease_until: number }>`
    SELECT lease_until FROM uploads
    WHERE version = ${version}
      AND CASE WHEN user_id = ${userId} AND state = 'pending' THEN 1 ELSE 0 END = 1
      AND ${isLeased({ now })}
    ${forUpdate ?? sql``}
  `.execute(db)
  return rows[0]?.lease_until
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
  const [later, end] = [sql`${now} + ${bigint(ms)}`, bigint(endsAt)]
  const until = sql<number>`CASE WHEN ${later} < ${end} THEN ${later} ELSE ${end} END`
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

/** The pieces after the last full part. The last part of all is one if an append stored it and did not seal. */
async function findTail({ db }: LedgerTx, upload: ResumableRow): Promise<readonly Piece[]> {
  const { version, received_bytes: offset, part_size: partSize } = upload
  const { rows } = await sql<PieceRow>`
    SELECT first_byte, size, receipt, object_key FROM upload_pieces
    WHERE version = ${version} AND first_byte >= ${offset - (offset % partSize)}
    ORDER BY first_byte
  `.execute(db)
  return rows.map(toPiece)
}

export async function endFinish({ db }: LedgerTx, finish: EndFinish): Promise<void> {
  const { userId, version, epoch, refusal, digest } = finish
  await sql`
    UPDATE resumable_uploads
    SET sha256 = COALESCE(sha256, ${digest?.sha256 ?? null}),
        crc32 = COALESCE(crc32, ${digest?.crc32 ?? null}), refusal = ${refusal ?? null},
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
