import { sql } from 'kysely'
import type { ContentDigest } from '../../core/objects/content-digest.ts'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import type { RecordAppend } from '../../core/resumable/resumable-ledger.ts'
import type { ResumableUploadRow, UploadPieceRow } from '../schema.ts'
import { type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { lockUpload, prolong } from './claim.ts'
import { forgetTailKey, leaveTailKey, leaveTails } from './tails.ts'

/**
 * Takes constant time, regardless of the number of recorded parts, and the user's lock only if tails become garbage.
 * What it records is durable with the COMMIT (`operations/session.ts`).
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
  await sql`
    DELETE FROM upload_pieces WHERE version = ${version} AND first_byte >= ${replacedFrom}
  `.execute(tx.db)
  await insertPieces(tx, record)
  if (isKeyLeft) await leaveTailKey(tx, { userId, version, key: leftKey, bytes })
  else if (leftKey !== undefined) await forgetTailKey(tx, { version, key: leftKey })
  const isProgress = record.offset > before.received_bytes
  const ms = isProgress ? tx.times.uploadLifetimeMs : (record.holderMs ?? 0)
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

/** A sealed upload is held for its finish, which needs no tail key. */
function endsAppend({ holderMs, sealed }: RecordAppend): boolean {
  return holderMs === undefined || sealed !== undefined
}

/**
 * The compare-and-set of the fencing token. A late record of the same append changes nothing if its offset is lower, or
 * if the append has been released: its tail object may be garbage by then.
 */
async function advance({ db, now }: LedgerTx, record: RecordAppend): Promise<boolean> {
  const { userId, version, epoch, offset, storeState, holderMs, sealed } = record
  const lease =
    holderMs === undefined
      ? sql`holder = NULL, holder_until = 0`
      : sql`holder_until = ${now} + ${holderMs}`
  const end = endsAppend(record) ? sql`, stop_asked = 0, tail_key = NULL` : sql``
  const seal =
    sealed === undefined
      ? sql``
      : sql`, sealed_at = COALESCE(sealed_at, ${now}), ${newDigest(sealed.digest)}`
  const { numAffectedRows } = await sql`
    UPDATE resumable_uploads
    SET updated_at = CASE WHEN received_bytes < ${offset} THEN ${now} ELSE updated_at END,
        received_bytes = ${offset}, store_state = ${storeState}, ${lease}${end}${seal}
    WHERE version = ${version} AND user_id = ${userId} AND epoch = ${epoch}
      AND received_bytes <= ${offset} AND holder IS NOT NULL
  `.execute(db)
  return numAffectedRows === 1n
}

/** Keeps what the row has if it is unknown here. */
function newDigest(digest: ContentDigest | undefined) {
  return digest === undefined
    ? sql`sha256 = sha256`
    : sql`sha256 = ${digest.sha256}, crc32 = ${digest.crc32}`
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
