import { sql } from 'kysely'
import { COUNTED_BYTES } from '../ledger/counted-bytes.ts'
import { invalidParameter } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import type { Version } from '../../core/objects/object-key.ts'
import { endedAlready, uploadBusy, uploadNotFound } from '../../core/resumable/refusals.ts'
import type { PrepareAppend } from '../../core/resumable/resumable-ledger.ts'
import {
  assertPrecondition,
  bigint,
  inactiveReason,
  type LedgerTx,
  lockUser,
  requireActive,
} from '../ledger/ledger-sql.ts'
import { isWithinShare, type Share, shareNeed, shareOfUpload } from '../ledger/device-share.ts'
import { type Eviction, evictionOf } from '../ledger/evictable.ts'
import { findRoom } from '../ledger/find-room.ts'
import {
  growthOver,
  mayAnnounce,
  mayCommit,
  needOf,
  type NeedValues,
  needValues,
} from '../ledger/quota-rule.ts'
import { refusalReason } from '../ledger/refusal-reason.ts'
import { assertDropFits } from '../links/drops.ts'
import { preconditionOf, type ResumableRow, selectResumables, stateOf } from './rows.ts'

/**
 * Resolves to `false` if something has to be written or searched. Otherwise makes all checks, and rejects if one fails.
 */
export async function isPrepared(tx: LedgerTx, append: PrepareAppend): Promise<boolean> {
  const demand = await demandOf(tx, append)
  if (demand.isChange) return false
  if (demand.row.may_commit === 1 && isWithinShare(demand.share, undefined)) return true
  // What may be evicted is searched under the lock: few uploads evict, and fewer need to.
  if (demand.eviction !== undefined) return false
  const { need, share, credential } = demand
  throw await refusalReason(tx, { ...append, credential }, { need, share })
}

export async function prepare(tx: LedgerTx, append: PrepareAppend): Promise<void> {
  const { userId, version, length } = append
  await lockUser(tx, userId)
  const demand = await demandOf(tx, append)
  const { row, need, share, missing, announced, isDeclared, credential } = demand
  const room = await findRoom(tx, { need, share }, demand.eviction)
  const announcement = {
    ...needOf(need, room),
    version: sql`${version}`,
    announced: bigint(announced),
  }
  const { sha256 = null } = append
  const mayGrow = announced > row.announced_bytes ? mayAnnounce(tx, announcement) : sql`1 = 1`
  const mayReserve = mayCommit(tx, announcement)
  const reserve = sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${missing}
    WHERE user_id = ${userId} AND ${mayReserve} AND ${mayGrow}
  `
  const reserved = isWithinShare(share, room) ? await reserve.execute(tx.db) : undefined
  if (reserved?.numAffectedRows !== 1n) {
    throw await refusalReason(tx, { ...append, credential }, { need, share, announcement, room })
  }
  await sql`
    UPDATE uploads SET reserved_bytes = reserved_bytes + ${missing},
      device_reserved = device_reserved + ${demand.missingOfShare}
    WHERE version = ${version}
  `.execute(tx.db)
  const mayDeclare = isDeclared ? sql`1 = 1` : sql`holder_until <= ${tx.now}`
  const prepared = await sql`
    UPDATE resumable_uploads
    SET announced_bytes = ${announced}, length_bytes = COALESCE(length_bytes, ${length ?? null}),
        expected_sha256 = COALESCE(expected_sha256, ${sha256})
    WHERE version = ${version} AND ${mayDeclare}
  `.execute(tx.db)
  // An append learns what was declared when it claims the upload, and may have gone beyond that since.
  if (prepared.numAffectedRows !== 1n) throw uploadBusy()
}

interface Demand {
  readonly row: AppendedRow
  readonly need: NeedValues
  /** Of an upload of a device. */
  readonly share: Share | undefined
  readonly eviction: Eviction | undefined
  /** The narrow credential that created the upload. */
  readonly credential: string | undefined
  /** Bytes to reserve in addition. */
  readonly missing: number
  readonly missingOfShare: number
  readonly announced: number
  readonly isDeclared: boolean
  readonly isChange: boolean
}

type ReplacedFile = Pick<
  File,
  'version' | 'size' | 'metadataBytes' | 'updatedAt' | 'modifiedAt' | 'deviceId'
>

/** Only transactions with the user's lock end an upload, replace its file or declare its length. */
async function demandOf(tx: LedgerTx, append: PrepareAppend): Promise<Demand> {
  const { bytes, reserved = bytes, length, sha256 } = append
  const row = await unfinishedRow(tx, append)
  await assertDeclarable(tx, append, row)
  const replaced = replacedBy(row)
  const file = row.file_expired === 1 ? undefined : replaced
  const { userId, userCreatedAt } = append
  await assertPrecondition(tx, { userId, userCreatedAt, precondition: preconditionOf(row) }, file)
  const { link_id: linkId } = row
  if (linkId !== null) await assertDropFits(tx, { userId, linkId, version: row.version, bytes })
  const credential = row.credential ?? undefined
  const sizes = { size: bytes, replaced, ownReserved: row.reserved_bytes }
  const need = needValues({ ...append, credential }, sizes)
  const missing = Math.max(0, growthOver(replaced, reserved) - row.reserved_bytes)
  const { device_id: deviceId, device_reserved: ownReserved } = row
  const ofUpload = { ...append, deviceId }
  const share = await shareOfUpload(tx, ofUpload, { ...sizes, ownReserved })
  const growthOfShare =
    deviceId === null ? 0 : shareNeed(deviceId, { ...sizes, size: reserved }).growth
  const missingOfShare = Math.max(0, growthOfShare - ownReserved)
  const said = credential === undefined ? (length ?? bytes) : reserved
  const announced = Math.max(row.announced_bytes, said)
  const isDeclared =
    (length === undefined || row.length_bytes !== null) &&
    (sha256 === undefined || row.expected_sha256 !== null)
  const isChange =
    missing > 0 || missingOfShare > 0 || announced > row.announced_bytes || !isDeclared
  const { name, version, evict } = row
  const eviction = evictionOf({ userId, name, version, evict: evict ?? undefined })
  const demanded = { row, need, share, eviction, credential, missing, missingOfShare }
  return { ...demanded, announced, isDeclared, isChange }
}

/** The row of an upload with the file that it would replace, and whether it could be committed with these bytes. */
type AppendedRow = ResumableRow & {
  readonly file_version: Version | null
  readonly file_size: number | null
  readonly file_metadata_bytes: number | null
  readonly file_device_id: string | null
  readonly file_updated_at: number | null
  readonly file_modified_at: number | null
  readonly file_expired: number
  readonly may_commit: number
}

async function findAppended(tx: LedgerTx, append: PrepareAppend): Promise<AppendedRow | undefined> {
  const size = bigint(append.bytes)
  const need = {
    userCreatedAt: bigint(append.userCreatedAt),
    size,
    growth: sql`CASE WHEN ${COUNTED_BYTES} >= ${size} THEN 0
      ELSE ${size} - COALESCE(${COUNTED_BYTES}, 0) END`,
    ownReserved: sql`uploads.reserved_bytes`,
    newFiles: sql`CASE WHEN files.version IS NULL THEN 1 ELSE 0 END`,
    credential: sql`uploads.credential`,
  }
  const more = sql`
    , files.version AS file_version, files.size AS file_size, files.metadata_bytes AS file_metadata_bytes,
    files.device_id AS file_device_id, files.updated_at AS file_updated_at,
    files.modified_at AS file_modified_at,
    CASE WHEN files.expires_at <= ${tx.now} THEN 1 ELSE 0 END AS file_expired,
    CASE WHEN EXISTS (
      SELECT 1 FROM quotas
      WHERE quotas.user_id = resumable_uploads.user_id AND ${mayCommit(tx, need)}
    ) THEN 1 ELSE 0 END AS may_commit
  `
  const { rows } = await sql<AppendedRow>`
    ${selectResumables(tx.now, more)}
    LEFT JOIN files ON files.user_id = uploads.user_id AND files.name = uploads.name
    WHERE resumable_uploads.version = ${append.version}
      AND resumable_uploads.user_id = ${append.userId}
  `.execute(tx.db)
  return rows[0]
}

function replacedBy(row: AppendedRow): ReplacedFile | undefined {
  const { file_version: version, file_size: size } = row
  const { file_updated_at: updatedAt, file_modified_at: modifiedAt } = row
  if (version === null || size === null || updatedAt === null) return undefined
  const metadataBytes = row.file_metadata_bytes ?? 0
  const { file_device_id: deviceId } = row
  return { version, size, metadataBytes, updatedAt, modifiedAt: modifiedAt ?? 0, deviceId }
}

async function unfinishedRow(tx: LedgerTx, append: PrepareAppend): Promise<AppendedRow> {
  const row = await findAppended(tx, append)
  const state = row && stateOf(row)
  if (row !== undefined && (state === 'open' || state === 'sealed')) return row
  await requireActive(tx, append)
  if (state === undefined) throw uploadNotFound()
  throw endedAlready({ state }) ?? uploadBusy()
}

async function assertDeclarable(
  tx: LedgerTx,
  append: PrepareAppend,
  row: ResumableRow,
): Promise<void> {
  const [parameter, detail] = contradiction(append, row) ?? []
  if (parameter === undefined || detail === undefined) return
  throw (await inactiveReason(tx, append)) ?? invalidParameter(parameter, detail)
}

/** A client that repeats an append also repeats its declarations. */
function contradiction(
  { length, sha256 }: PrepareAppend,
  { length_bytes: declared, expected_sha256: digest, received_bytes: offset }: ResumableRow,
): readonly [parameter: string, detail: string] | undefined {
  if (length !== undefined && declared !== null && length !== declared) {
    return ['Upload-Length', 'A different length was already declared for this upload.']
  }
  if (length !== undefined && length < offset) {
    return ['Upload-Length', 'The length is less than the offset of this upload.']
  }
  if (sha256 !== undefined && digest !== null && sha256 !== digest) {
    return ['Repr-Digest', 'A different digest was already declared for this upload.']
  }
  return undefined
}
