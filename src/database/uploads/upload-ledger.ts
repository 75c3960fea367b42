import { sql } from 'kysely'
import type {
  AbortUpload,
  ExtendUpload,
  UploadLedger,
  UploadOutcome,
  PendingUpload,
} from '../../core/uploads/upload-ledger.ts'
import { objectKey } from '../../core/objects/object-key.ts'
import { delayStart } from '../ledger/safe-now.ts'
import {
  bigint,
  findUpload,
  type LedgerTx,
  lockUser,
  lostReason,
  type UploadId,
  uploadLost,
} from '../ledger/ledger-sql.ts'
import { isWithinShare, shareOfUpload } from '../ledger/device-share.ts'
import { evictableIn, evictionOf } from '../ledger/evictable.ts'
import { untilFound } from '../ledger/eviction-search.ts'
import { findRoom } from '../ledger/find-room.ts'
import { inline } from '../statement.ts'
import { garbageBytes } from '../ledger/counted-bytes.ts'
import { findNamed } from '../ledger/named-objects.ts'
import { growthOver, hasRoom } from '../ledger/quota-rule.ts'
import { refusalReason } from '../ledger/refusal-reason.ts'
import type { Operations } from '../operations/operation.ts'
import type { Session } from '../operations/session.ts'
import { assertDropFits } from '../links/drops.ts'
import { endResumable, isUnclaimed } from '../resumable/end.ts'
import { isLeaseOver } from '../sweep/sweep.ts'
import { begin, checkBegin } from './begin.ts'
import { BEGIN_STATEMENT } from './begin-statement.ts'
import { COMMIT_STATEMENT } from './commit-statement.ts'
import { commit } from './commit.ts'
import { fromRow, type Row } from '../ledger/rows.ts'

export const UPLOAD_OPERATIONS = {
  checkBegin: { bind: checkBeforeBegin, effect: 'reads' },
  // Bytes have a floor of their own, which is higher (`core/uploads/free-space.ts`).
  begin: {
    through: 'change',
    run: begin,
    statement: BEGIN_STATEMENT,
    mayEvict: true,
    effect: 'grows',
    startsWriter: true,
  },
  extend: { through: 'change', run: extend, mayEvict: true, effect: 'frees' },
  renew: { through: 'queryPrepared', run: renew, effect: 'frees' },
  commit: {
    through: 'change',
    run: commit,
    statement: COMMIT_STATEMENT,
    mayEvict: true,
    effect: 'grows',
  },
  // Even late, so that the upload ends.
  abort: { through: 'change', run: abort, effect: 'frees', runsLate: true },
  endLeases: { through: 'transaction', run: endLeases, effect: 'frees' },
  listPendingUploads: { through: 'readInOrder', run: listPendingUploads, effect: 'reads' },
} as const satisfies Operations<UploadLedger>

function checkBeforeBegin({ query, readInOrder }: Session): UploadLedger['checkBegin'] {
  return (upload) =>
    upload.evict === undefined
      ? query((tx) => checkBegin(tx, upload))
      : untilFound(() => readInOrder((tx) => checkBegin(tx, upload)))
}

async function extend(tx: LedgerTx, upload: ExtendUpload): Promise<void> {
  const { db, now, times } = tx
  const { userId, version, bytes } = upload
  await lockUser(tx, userId)
  const found = await findUpload(tx, upload)
  if (found === undefined) throw await lostReason(tx, upload)
  const { linkId } = upload
  if (linkId !== undefined) await assertDropFits(tx, { userId, linkId, version, bytes })
  const eviction = evictionOf({ userId, version, name: found.name, evict: upload.evict })
  const replaced = found.held.row
  const growth = Math.max(0, growthOver(replaced, bytes) - found.reserved)
  const { userCreatedAt } = upload
  const more = {
    userCreatedAt,
    size: bytes,
    growth,
    ownReserved: 0,
    newFiles: 0,
    credential: null,
  }
  const sizes = { size: bytes, replaced, ownReserved: found.deviceReserved }
  const share = await shareOfUpload(tx, { userId, version, deviceId: found.deviceId }, sizes)
  const ofShare = share === undefined ? 0 : Math.max(0, share.growth - share.ownReserved)
  const asked = ofShare === 0 ? undefined : share
  const room = await findRoom(tx, { need: more, share: asked }, eviction)
  const evictable = room && evictableIn(inline(room))

  const extended = await sql`
    UPDATE uploads
    SET reserved_bytes = reserved_bytes + ${growth}, device_reserved = device_reserved + ${ofShare},
        lease_until = ${now} + ${times.leaseMs}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
  `.execute(db)
  if (extended.numAffectedRows !== 1n) throw await lostReason(tx, upload)

  const reserve = sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${growth}
    WHERE user_id = ${userId}
      AND ${hasRoom(tx, { growth: bigint(growth), ownReserved: bigint(0), evictable })}
  `
  const reserved = isWithinShare(asked, room) ? await reserve.execute(db) : undefined
  if (reserved?.numAffectedRows !== 1n) {
    const need = { size: bytes, newFiles: 0 }
    throw await refusalReason(tx, { userId, userCreatedAt }, { need, share: asked, room })
  }
}

async function renew(tx: LedgerTx, upload: Pick<UploadId, 'version'>): Promise<void> {
  const renewed = await sql`
    UPDATE uploads
    SET lease_until = ${tx.now} + ${tx.times.leaseMs}
    WHERE version = ${upload.version} AND state = 'pending'
  `.execute(tx.db)
  if (renewed.numAffectedRows !== 1n) throw uploadLost()
}

async function abort(tx: LedgerTx, upload: AbortUpload): Promise<UploadOutcome | undefined> {
  const { db, now } = tx
  const { userId, version, expiredOnly = false, isUntouched = false } = upload
  await lockUser(tx, userId)
  const isForgotten = isUntouched || (await isUnclaimed(tx, upload))
  const settle = isForgotten
    ? sql`DELETE FROM uploads`
    : sql`UPDATE uploads SET state = 'aborted', settled_at = ${delayStart(tx)}, remove_at = ${now},
        garbage_bytes = ${garbageBytes(sql`0`)}`
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    ${settle}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
      AND (${bigint(expiredOnly ? 0 : 1)} = 1 OR ${isLeaseOver(tx)})
    RETURNING reserved_bytes
  `.execute(db)
  if (rows[0] === undefined) return await settledAs(tx, upload)

  await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes - ${rows[0].reserved_bytes},
        garbage_bytes = garbage_bytes + ${isForgotten ? sql`0` : garbageBytes(sql`0`)}
    WHERE user_id = ${userId}
  `.execute(db)
  if (!isForgotten) await endResumable(tx, upload)
  return isForgotten ? 'forgotten' : 'aborted'
}

async function settledAs(tx: LedgerTx, upload: UploadId): Promise<UploadOutcome | undefined> {
  const found = await findUpload(tx, upload)
  if (found?.state === 'pending') return undefined
  if (found !== undefined) return found.state
  // A forgotten upload may have left a version, whose object must not be treated as aborted wherever it is by now.
  const key = objectKey(upload.userId, upload.version)
  const { held, garbage } = await findNamed(tx.db, [key])
  return held.has(key) || held.has(upload.version) || garbage.has(key) ? 'committed' : 'aborted'
}

/** The end is not a time: the safe time may be far behind the clock. */
async function endLeases({ db, now }: LedgerTx): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE uploads SET lease_until = 0
    WHERE state = 'pending' AND lease_until > ${now} AND NOT EXISTS (
      SELECT 1 FROM resumable_uploads WHERE resumable_uploads.version = uploads.version
    )
  `.execute(db)
  // A resumable upload survives the process that was appending to it. No write of that process can come any more, so
  // the next append need not take over. What the object store may still do for it is in `store_state`.
  await sql`
    UPDATE resumable_uploads SET holder = NULL, holder_until = 0 WHERE holder IS NOT NULL
  `.execute(db)
  return Number(numAffectedRows)
}

async function listPendingUploads(
  { db, now }: LedgerTx,
  { after, limit }: Parameters<UploadLedger['listPendingUploads']>[0],
): Promise<readonly PendingUpload[]> {
  const { rows } = await sql<PendingRow>`
    SELECT uploads.user_id AS "userId", uploads.version, name, object_key AS "objectKey",
      length_bytes AS length,
      CASE WHEN COALESCE(holder_until, lease_until) > ${now} THEN 1 ELSE 0 END AS is_running
    FROM uploads LEFT JOIN resumable_uploads ON resumable_uploads.version = uploads.version
    WHERE uploads.state = 'pending' AND uploads.version > ${after ?? ''}
    ORDER BY uploads.version LIMIT ${limit}
  `.execute(db)
  return rows.map(toPending)
}

type PendingRow = Row<Omit<PendingUpload, 'isRunning'>> & { readonly is_running: number }

function toPending({ is_running: isRunning, ...upload }: PendingRow): PendingUpload {
  return { ...fromRow<Omit<PendingUpload, 'isRunning'>>(upload), isRunning: isRunning === 1 }
}
