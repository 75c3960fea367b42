import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Claim, ClaimAppend, RecordAppend } from '../../core/resumable/resumable-ledger.ts'
import { compileOnce, type Slot } from '../statement.ts'
import type { Clock } from '../ledger/ledger-sql.ts'
import {
  appendClaim,
  claimRow,
  isUnfinished,
  leaseFor,
  MARGIN_MS,
  selectTail,
} from '../resumable/claim.ts'
import { advanceRow, advanceValues, endsAppend, type RecordKind } from '../resumable/record.ts'
import { type ResumableRow, toPiece, toResumable, UPLOAD_COLUMNS } from '../resumable/rows.ts'
import { journalTail, recordedTails, renewal, renewalDue } from '../resumable/tails.ts'
import type { PieceRow, Tables } from '../schema.ts'

/**
 * One PostgreSQL statement each, outside any transaction, for an append that nothing interferes with. If it returns no
 * row, nothing changed, and the caller goes step by step. `undefined` for calls that have no statement.
 *
 * At READ COMMITTED, a row that the statement locks or updates is current: PostgreSQL waits for its lock and then tests
 * the conditions on it again. Everything else is as old as the snapshot that the statement took before it waited:
 *
 * - The row of `resumable_uploads` satisfies the conditions both in the snapshot and when it is updated. The epoch and
 *   the offset are the same, so no other append claimed the upload in between, and nothing was recorded that moved the
 *   offset. Pieces change only with such a record, or if a record is repeated, which writes them again as they are. The
 *   pieces in the snapshot are therefore current.
 * - What a record takes from the old row (`before`) is compared with the row that it updates.
 * - The status of the user is that at some time during the call, as it is step by step: a claim does not wait for the
 *   user's lock.
 *
 * At a stricter level, which a server can have as its default, PostgreSQL rejects the statement where a row has
 * changed, and it is repeated.
 */
export interface AppendStatements {
  readonly claim: (claim: ClaimAppend) => CompiledQuery<ClaimedRow> | undefined
  readonly record: (record: RecordAppend) => CompiledQuery | undefined
}

export function appendStatements(db: Kysely<Tables>, clock: Clock): AppendStatements {
  const recordAs = (kind: RecordKind) =>
    compileOnce<RecordValues>(db, (slot) => recordStatement(clock, slot, kind))
  const claim = compileOnce<ClaimValues, ClaimedRow>(db, (slot) => claimStatement(clock, slot))
  const renew = recordAs({ holderMs: 0, sealed: undefined })
  const release = recordAs({ holderMs: undefined, sealed: undefined })
  const seal = recordAs({ holderMs: 0, sealed: { sha256: undefined } })
  return {
    claim({ epoch, ...append }) {
      return epoch === undefined ? undefined : claim({ ...append, epoch })
    },
    record(record) {
      const { holderMs, sealed } = record
      // Garbage of the user is counted under the user's lock.
      if (leavesTail(record) || (sealed && holderMs === undefined)) return undefined
      const statement = sealed ? seal : holderMs === undefined ? release : renew
      return statement(recordValues(record))
    },
  }
}

/** Whether it ends an append that has sent a tail and does not record it. */
function leavesTail(record: RecordAppend): boolean {
  const { sentTailBytes, pieces } = record
  const isRecorded = pieces.some(({ objectKey }) => objectKey !== undefined)
  return endsAppend(record) && sentTailBytes !== undefined && !isRecorded
}

type ClaimValues = ClaimAppend & { readonly epoch: number }

type ClaimedRow = ResumableRow & { readonly tail: readonly PieceRow[] | null }

function claimStatement({ now }: Clock, slot: Slot<ClaimValues>) {
  const { set, where } = appendClaim(slot)
  const isLeased = sql`uploads.lease_until - ${now} > ${slot('holderMs')} + ${sql.lit(MARGIN_MS)}`
  const isFree = sql`holder IS NULL AND tail_key IS NULL`
  const row = { set, from: sql`FROM locked`, where: sql`${where} AND ${isFree}` }
  const offset = sql<number>`claimed.received_bytes`
  const tail = selectTail(sql`claimed.version`, sql`${offset} - ${offset} % claimed.part_size`)
  const journaled = sql`FROM claimed, locked WHERE claimed.tail_key IS NOT NULL`
  return sql<ClaimedRow>`
    WITH locked AS MATERIALIZED (
      SELECT ${UPLOAD_COLUMNS} FROM uploads WHERE ${isUnfinished(slot)} AND ${isLeased} FOR UPDATE
    ), claimed AS (
      ${claimRow({ now }, slot, row)}
    ), journaled AS (
      ${journalTail(sql`claimed.tail_key`, sql`locked.lease_until`, journaled)}
    )
    SELECT claimed.*, locked.*, ${now} AS now, 0 AS is_over, CASE WHEN ${offset} > 0 THEN (
      SELECT json_agg(piece ORDER BY piece.first_byte) FROM (${tail}) AS piece
    ) END AS tail
    FROM claimed, locked
  `
}

export function toClaim({ tail, ...row }: ClaimedRow): Claim {
  return { upload: toResumable(row), tail: (tail ?? []).map(toPiece) }
}

type RecordValues = ReturnType<typeof recordValues>

function recordValues(record: RecordAppend) {
  const { replacedFrom, pieces, lifetimeMs } = record
  return {
    ...advanceValues(record),
    replacedFrom,
    lifetimeMs,
    firstBytes: pieces.map(({ firstByte }) => firstByte),
    sizes: pieces.map(({ size }) => size),
    receipts: pieces.map(({ receipt }) => receipt),
    keys: pieces.map(({ objectKey }) => objectKey ?? null),
    tailKeys: pieces.flatMap(({ objectKey }) => objectKey ?? []),
  }
}

function recordStatement({ now }: Clock, slot: Slot<RecordValues>, kind: RecordKind) {
  const ms = sql<number>`CASE
    WHEN before.received_bytes < ${slot('offset')} THEN CAST(${slot('lifetimeMs')} AS BIGINT)
    ELSE CAST(${slot('holderMs')} AS BIGINT)
  END`
  const isSame = sql`resumable_uploads.received_bytes = before.received_bytes
    AND resumable_uploads.tail_key IS NOT DISTINCT FROM before.tail_key`
  // Recorded pieces hold the bytes below the offset, so none is replaced.
  const addsOnly = sql`before.received_bytes <= ${slot('replacedFrom')}`
  const row = { ...kind, from: sql`FROM before`, where: sql`${isSame} AND ${addsOnly}` }
  const tailKeys = sql`CAST(${slot('tailKeys')} AS TEXT[])`
  const isInUse = sql<boolean>`garbage.object_key = ANY(ARRAY(
    ${recordedTails(slot('version'))} UNION ALL SELECT unnest(${tailKeys}) UNION ALL
    SELECT tail_key FROM advanced
  ))`
  const isDue = renewalDue(sql`prolonged.before`, sql`prolonged.after`)
  return sql`
    WITH locked AS MATERIALIZED (
      SELECT uploads.lease_until FROM uploads
      WHERE ${isUnfinished(slot)} AND uploads.lease_until > ${now} FOR UPDATE
    ), before AS MATERIALIZED (
      SELECT received_bytes, tail_key, ends_at, lease_until FROM resumable_uploads, locked
      WHERE version = ${slot('version')}
    ), advanced AS (
      ${advanceRow({ now }, slot, row)}
      RETURNING resumable_uploads.version, resumable_uploads.tail_key,
        before.tail_key AS left_key, before.lease_until,
        ${leaseFor(now, { ms, endsAt: sql`before.ends_at` })} AS until
    ), added AS (
      INSERT INTO upload_pieces (version, first_byte, size, receipt, object_key)
      SELECT advanced.version, piece.* FROM advanced, unnest(
        CAST(${slot('firstBytes')} AS BIGINT[]), CAST(${slot('sizes')} AS BIGINT[]),
        CAST(${slot('receipts')} AS TEXT[]), CAST(${slot('keys')} AS TEXT[])
      ) AS piece
    ), prolonged AS (
      UPDATE uploads SET lease_until = advanced.until FROM advanced
      WHERE uploads.version = advanced.version AND uploads.lease_until < advanced.until
      RETURNING uploads.version, advanced.lease_until AS before, uploads.lease_until AS after
    ), renewed AS (
      ${renewal({
        leaseUntil: sql`prolonged.after`,
        isInUse: sql`${isDue} AND ${isInUse}`,
        from: sql`FROM prolonged`,
      })}
    )${endsAppend(kind) ? sql`, ${unusedKey(tailKeys)}` : sql``}
    SELECT version FROM advanced
  `
}

/** Forgets the tail key of an append that has ended without using it. */
function unusedKey(tailKeys: RawBuilder<unknown>) {
  return sql`
    forgotten AS (
      DELETE FROM garbage USING advanced
      WHERE garbage.object_key = advanced.left_key AND garbage.user_id IS NULL
        AND advanced.left_key <> ALL(${tailKeys})
        AND NOT EXISTS (
          SELECT 1 FROM upload_pieces
          WHERE upload_pieces.version = advanced.version
            AND upload_pieces.object_key = advanced.left_key
        )
    )
  `
}
