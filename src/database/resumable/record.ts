import { type RawBuilder, sql } from 'kysely'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import type { RecordAppend } from '../../core/resumable/resumable-ledger.ts'
import type { ResumableUploadRow, UploadPieceRow } from '../schema.ts'
import { inline, type Slot } from '../statement.ts'
import { type Clock, type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { lockUpload, prolong } from './claim.ts'
import { forgetTailKey, leaveTailKey, leaveTails } from './tails.ts'

/**
 * Takes constant time, regardless of the number of recorded parts, and the user's lock only if tails become garbage.
 */
export async function recordAppend(tx: LedgerTx, record: RecordAppend): Promise<boolean> {
  const { userId, version, replacedFrom, sentTailBytes: bytes } = record
  const before = await findAppend(tx, record)
  if (before === undefined) return false
  const { left, kept, leftKey } = tailsAfter(record, before)
  const isKeyLeft = leftKey !== undefined && bytes !== undefined
  if (left.length > 0 || isKeyLeft) await lockUser(tx, userId)
  const leaseUntil = await lockUpload(tx, record)
  if (leaseUntil === undefined || !(await advance(tx, record))) return false

  if (left.length > 0) await leaveTails(tx, { userId, version, from: replacedFrom, kept })
  // Whatever `before` says: a record whose client has given up can commit until the upload is locked.
  await deletePieces(tx, record)
  await insertPieces(tx, record)
  if (isKeyLeft) await leaveTailKey(tx, { userId, version, key: leftKey, bytes })
  else if (leftKey !== undefined) await forgetTailKey(tx, { version, key: leftKey })
  const isProgress = record.offset > before.received_bytes
  const ms = isProgress ? record.lifetimeMs : (record.holderMs ?? 0)
  await prolong(tx, { version, endsAt: before.ends_at, leaseUntil, ms })
  return true
}

type AppendRow = Pick<ResumableUploadRow, 'version' | 'received_bytes' | 'tail_key' | 'ends_at'> & {
  readonly tail: readonly TailPiece[]
}

type TailPiece = Pick<UploadPieceRow, 'first_byte'> & { readonly object_key: ObjectKey }

/** Only the holder of the epoch changes these rows. `undefined` if the epoch is over. */
async function findAppend(
  { db }: LedgerTx,
  { userId, version, epoch }: RecordAppend,
): Promise<AppendRow | undefined> {
  const { rows } = await sql<
    Omit<AppendRow, 'tail'> & { [column in keyof TailPiece]: TailPiece[column] | null }
  >`
    SELECT append.version, append.received_bytes, append.tail_key, append.ends_at,
      tail.first_byte, tail.object_key
    FROM resumable_uploads AS append
    LEFT JOIN upload_pieces AS tail
      ON tail.version = append.version AND tail.object_key IS NOT NULL
    WHERE append.version = ${version} AND append.user_id = ${userId} AND append.epoch = ${epoch}
  `.execute(db)
  const tail = rows.flatMap(({ first_byte, object_key }) =>
    first_byte === null || object_key === null ? [] : [{ first_byte, object_key }],
  )
  return rows[0] && { ...rows[0], tail }
}

/** The recorded tail objects that this record replaces, those that it keeps, and the tail key if it remains unused. */
function tailsAfter(record: RecordAppend, { tail, tail_key: tailKey }: AppendRow) {
  const { replacedFrom, pieces } = record
  const recorded = new Set(pieces.flatMap(({ objectKey }) => objectKey ?? []))
  const replaced = tail.filter(({ first_byte: firstByte }) => firstByte >= replacedFrom)
  const left = replaced.filter(({ object_key: key }) => !recorded.has(key))
  const kept = replaced.flatMap(({ object_key: key }) => (recorded.has(key) ? key : []))
  const isUsed =
    tailKey !== null && (recorded.has(tailKey) || tail.some((each) => each.object_key === tailKey))
  const isLeft = endsAppend(record) && !isUsed
  return { left, kept, leftKey: isLeft && tailKey !== null ? tailKey : undefined }
}

/** Whether it renews the claim, releases it, or seals the upload. */
export type RecordKind = Pick<RecordAppend, 'holderMs' | 'sealed'>

/** A sealed upload is held for its finish, which needs no tail key. */
export function endsAppend({ holderMs, sealed }: RecordKind): boolean {
  return holderMs === undefined || sealed !== undefined
}

async function advance(tx: LedgerTx, record: RecordAppend): Promise<boolean> {
  const advanced = advanceRow(tx, inline(advanceValues(record)), record)
  return (await advanced.execute(tx.db)).numAffectedRows === 1n
}

type AdvanceValues = ReturnType<typeof advanceValues>

export function advanceValues(record: RecordAppend) {
  const { userId, version, epoch, offset, storeState } = record
  const { holderMs = 0, sealed: { sha256 = null } = {} } = record
  return { userId, version, epoch, offset, storeState, holderMs, sha256 }
}

interface RowAdvance extends RecordKind {
  readonly from?: RawBuilder<unknown>
  readonly where?: RawBuilder<unknown>
}

/**
 * SQL for the compare-and-set of the fencing token. A late record of the same append changes nothing if its offset is
 * lower, or if the append has been released: its tail object may be garbage by then.
 */
export function advanceRow(
  { now }: Clock,
  slot: Slot<AdvanceValues>,
  { from = sql``, where = sql`1 = 1`, ...kind }: RowAdvance,
): RawBuilder<unknown> {
  const lease =
    kind.holderMs === undefined
      ? sql`holder = NULL, holder_until = 0`
      : sql`holder_until = ${now} + ${slot('holderMs')}`
  const end = endsAppend(kind) ? sql`, stop_asked = 0, tail_key = NULL` : sql``
  const seal =
    kind.sealed === undefined
      ? sql``
      : sql`, sealed_at = COALESCE(sealed_at, ${now}), sha256 = COALESCE(${slot('sha256')}, sha256)`
  return sql`
    UPDATE resumable_uploads
    SET updated_at = CASE WHEN resumable_uploads.received_bytes < ${slot('offset')} THEN ${now} ELSE updated_at END,
        received_bytes = ${slot('offset')}, store_state = ${slot('storeState')}, ${lease}${end}${seal}
    ${from}
    WHERE resumable_uploads.version = ${slot('version')}
      AND resumable_uploads.user_id = ${slot('userId')}
      AND resumable_uploads.epoch = ${slot('epoch')}
      AND resumable_uploads.received_bytes <= ${slot('offset')}
      AND resumable_uploads.holder IS NOT NULL AND ${where}
  `
}

async function deletePieces(
  { db }: LedgerTx,
  { version, replacedFrom }: RecordAppend,
): Promise<void> {
  await sql`
    DELETE FROM upload_pieces WHERE version = ${version} AND first_byte >= ${replacedFrom}
  `.execute(db)
}

/** More would exceed what a statement may bind. */
const MAX_PIECES_PER_STATEMENT = 500

async function insertPieces({ db }: LedgerTx, { version, pieces }: RecordAppend): Promise<void> {
  for (let first = 0; first < pieces.length; first += MAX_PIECES_PER_STATEMENT) {
    const rows = pieces
      .slice(first, first + MAX_PIECES_PER_STATEMENT)
      .map(
        ({ firstByte, size, receipt, objectKey }) =>
          sql`(${version}, ${firstByte}, ${size}, ${receipt}, ${objectKey ?? null})`,
      )
    // With the plugin, each number of rows would prepare another statement.
    await sql`
      INSERT INTO upload_pieces (version, first_byte, size, receipt, object_key)
      VALUES ${sql.join(rows)}
    `.execute(db.withoutPlugins())
  }
}
