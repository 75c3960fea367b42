import { type RawBuilder, sql } from 'kysely'
import type { Piece } from '../../core/objects/append-store.ts'
import type { ContentDigest } from '../../core/objects/content-digest.ts'
import type {
  NamedResumable,
  ResumableState,
  ResumableUpload,
} from '../../core/resumable/resumable-ledger.ts'
import type { Precondition } from '../../core/files/precondition.ts'
import type { PieceRow, ResumableUploadRow, UploadRow } from '../schema.ts'
import { safeNow } from '../ledger/safe-now.ts'
import type { Clock, Clocked } from '../ledger/ledger-sql.ts'

type UploadColumns = Pick<
  UploadRow,
  'name' | 'object_key' | 'reserved_bytes' | 'state' | 'lease_until'
> & {
  readonly credential: string | null
  readonly device_id: string | null
  readonly device_reserved: number
  readonly link_id: string | null
}

export type ResumableRow = ResumableUploadRow &
  UploadColumns & {
    readonly now: number
    /** 1 if the lease has ended, else 0. */
    readonly is_over: number
  }

/**
 * SQL for whether the lease of the row of `uploads` runs, by the clock or the safe time: an upload that the sweep keeps
 * can go on (I17).
 */
export function isLeased(clock: Clock): RawBuilder<boolean> {
  return sql<boolean>`(uploads.lease_until > ${clock.now} OR uploads.lease_until > ${safeNow(clock)})`
}

/** SQL for rows of `ResumableRow`, up to the WHERE. `more` are further columns. */
export function selectResumables(
  now: RawBuilder<number>,
  more: RawBuilder<unknown> = sql``,
): RawBuilder<ResumableRow> {
  return sql<ResumableRow>`
    SELECT ${UPLOAD_COLUMNS}, ${RESUMABLE_COLUMNS}, ${now} AS now,
      CASE WHEN ${isLeased({ now })} THEN 0 ELSE 1 END AS is_over ${more}
    FROM resumable_uploads JOIN uploads ON uploads.version = resumable_uploads.version
  `
}

export const UPLOAD_COLUMNS = sql`
  uploads.name, uploads.object_key, uploads.reserved_bytes, uploads.state, uploads.lease_until,
  uploads.credential, uploads.device_id, uploads.device_reserved, uploads.link_id
`

// Listed, because a migration may change the meaning of `*` in a prepared statement.
export const RESUMABLE_COLUMNS = sql.raw(
  [
    'version',
    'user_id',
    'length_bytes',
    'announced_bytes',
    'received_bytes',
    'part_size',
    'epoch',
    'holder',
    'holder_until',
    'stop_asked',
    'tail_key',
    'store_state',
    'metadata',
    'visibility',
    'precondition',
    'evict',
    'expires_in',
    'expected_sha256',
    'sha256',
    'crc32',
    'sealed_at',
    'refusal',
    'ended_as',
    'created_at',
    'updated_at',
    'ends_at',
  ]
    .map((column) => `resumable_uploads.${column}`)
    .join(', '),
)

export async function findRow(
  { db, now }: Clocked,
  { userId, version }: NamedResumable,
): Promise<ResumableRow | undefined> {
  const { rows } = await sql<ResumableRow>`
    ${selectResumables(now)}
    WHERE resumable_uploads.version = ${version} AND resumable_uploads.user_id = ${userId}
  `.execute(db)
  return rows[0]
}

export function toResumable(row: ResumableRow): ResumableUpload {
  return {
    userId: row.user_id,
    version: row.version,
    name: row.name,
    objectKey: row.object_key,
    state: stateOf(row),
    length: row.length_bytes ?? undefined,
    offset: row.received_bytes,
    partSize: row.part_size,
    epoch: row.epoch,
    isHeld: row.holder !== null && row.holder_until > row.now,
    holder: row.holder ?? undefined,
    storeState: row.store_state,
    metadata: row.metadata,
    visibility: row.visibility ?? undefined,
    precondition: preconditionOf(row),
    linkId: row.link_id ?? undefined,
    credential: row.credential ?? undefined,
    deviceId: row.device_id ?? undefined,
    evict: row.evict ?? undefined,
    expiresInMs: row.expires_in ?? undefined,
    expectedSha256: row.expected_sha256 ?? undefined,
    digest: digestOf(row),
    refusal: row.refusal ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.lease_until,
  }
}

function digestOf({ sha256, crc32 }: ResumableRow): ContentDigest | undefined {
  return sha256 === null || crc32 === null ? undefined : { sha256, crc32 }
}

export function preconditionOf({
  precondition,
}: Pick<ResumableRow, 'precondition'>): Precondition | undefined {
  return precondition === null ? undefined : (JSON.parse(precondition) as Precondition)
}

/** An upload has expired when its lease has ended, even before a sweep: no claim can revive it. */
export function stateOf(row: ResumableRow): ResumableState {
  if (row.state === 'committed') return 'finished'
  if (row.state === 'aborted') return row.ended_as ?? 'expired'
  if (row.is_over === 1) return 'expired'
  return row.sealed_at === null ? 'open' : 'sealed'
}

export function toPiece(row: PieceRow): Piece {
  return {
    firstByte: row.first_byte,
    size: row.size,
    receipt: row.receipt,
    objectKey: row.object_key ?? undefined,
  }
}
