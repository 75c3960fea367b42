import { type RawBuilder, sql } from 'kysely'
import type { CreateResumable, ResumableUpload } from '../../core/resumable/resumable-ledger.ts'
import type { BatchStatement } from '../operations/batcher.ts'
import {
  assertPrecondition,
  bigint,
  type LedgerTx,
  lockUser,
  type SqlContext,
  run,
} from '../ledger/ledger-sql.ts'
import { isWithinShare, shareOfUpload } from '../ledger/device-share.ts'
import { evictionOf } from '../ledger/evictable.ts'
import { findRoom } from '../ledger/find-room.ts'
import { assertMayBeginDrop } from '../links/drops.ts'
import { mayCreate, needOf, needValues } from '../ledger/quota-rule.ts'
import { fileNamed } from '../ledger/read-files.ts'
import { refusalReason } from '../ledger/refusal-reason.ts'
import { inline, type Slot } from '../statement.ts'
import { insertUpload, reservedAtFirst } from '../uploads/begin.ts'
import {
  type By,
  byActor,
  bytesOf,
  reservation,
  type ReserveValues,
  statementNeed,
} from '../uploads/begin-statement.ts'
import { expectedBy } from '../uploads/expected-file.ts'
import { findRow, RESUMABLE_COLUMNS, toResumable, UPLOAD_COLUMNS } from './rows.ts'

export async function createResumable(
  tx: LedgerTx,
  upload: CreateResumable,
): Promise<ResumableUpload> {
  const { userId, version, name, objectKey, linkId, credential, length: size = 0 } = upload
  const { deviceId = null } = upload
  await lockUser(tx, userId)
  const { file, row: replaced } = await fileNamed(tx, upload)
  await assertPrecondition(tx, upload, file)
  if (linkId !== undefined) {
    await assertMayBeginDrop(tx, { userId, linkId, version, bytes: size, isResumable: true })
  }

  const sizes = { size, replaced, ownReserved: 0 }
  const need = needValues(upload, sizes)
  const share = await shareOfUpload(tx, upload, sizes)
  const room = await findRoom(tx, { need, share }, evictionOf(upload))
  const announcement = {
    ...needOf(need, room),
    version: sql`${version}`,
    announced: bigint(size),
  }
  const mayReserve = mayCreate(tx, announcement)
  const first = reservedAtFirst(need, credential)
  const reserve = sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${first}
    WHERE user_id = ${userId} AND ${mayReserve}
  `
  const reserved = isWithinShare(share, room) ? await reserve.execute(tx.db) : undefined
  if (reserved?.numAffectedRows !== 1n) {
    const refused = { need, share, announcement, room, counted: 'maxUnfinished' } as const
    throw await refusalReason(tx, upload, refused)
  }

  const leaseMs = firstLeaseMs(upload)
  const isEvicting = room ? 1 : 0
  const values = { version, userId, name, objectKey, first, isEvicting, leaseMs } as const
  const deviceReserved = share === undefined ? 0 : reservedAtFirst(share, credential)
  const device = { deviceId, deviceReserved }
  const by = { credential: credential ?? null, linkId: linkId ?? null }
  await run(tx, insertUpload, { ...values, ...device, ...by })
  await insertResumable(tx.now, inline(resumableValues(upload))).execute(tx.db)
  const row = await findRow(tx, upload)
  if (row === undefined) throw new TypeError('The inserted row was not found')
  return toResumable(row)
}

function firstLeaseMs({ emptyLifetimeMs, maxLifetimeMs }: CreateResumable): number {
  return Math.min(emptyLifetimeMs, maxLifetimeMs)
}

type ResumableValues = ReturnType<typeof resumableValues>

function resumableValues(upload: CreateResumable) {
  const { length, precondition, credential } = upload
  return {
    version: upload.version,
    userId: upload.userId,
    length: length ?? null,
    announced: credential === undefined ? (length ?? 0) : 0,
    partSize: upload.partSize,
    metadata: upload.metadata,
    visibility: upload.visibility ?? null,
    storedPrecondition: precondition === undefined ? null : JSON.stringify(precondition),
    evict: upload.evict ?? null,
    expiresInMs: upload.expiresInMs ?? null,
    expectedSha256: upload.expectedSha256 ?? null,
    maxLifetimeMs: upload.maxLifetimeMs,
  }
}

/** SQL that inserts the row: once, or for each row of `from`. */
function insertResumable(
  now: RawBuilder<number>,
  slot: Slot<ResumableValues>,
  from: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const number = (member: keyof ResumableValues) => sql`CAST(${slot(member)} AS BIGINT)`
  return sql`
    INSERT INTO resumable_uploads (version, user_id, length_bytes, announced_bytes, part_size,
      metadata, visibility, precondition, evict, expires_in, expected_sha256, created_at, updated_at, ends_at)
    SELECT ${slot('version')}, ${slot('userId')}, ${number('length')}, ${number('announced')},
      ${number('partSize')}, ${slot('metadata')}, ${slot('visibility')},
      ${slot('storedPrecondition')}, ${slot('evict')}, ${number('expiresInMs')}, ${slot('expectedSha256')}, ${now}, ${now},
      ${now} + ${number('maxLifetimeMs')} ${from}
  `
}

type CreateValues = ReserveValues & ResumableValues

/** `createResumable` as one statement. Returns no row if the file of that name has expired. */
export const CREATE_STATEMENT: BatchStatement<CreateResumable, ResumableUpload> = {
  compile: (db, context) => {
    const statement = byActor<CreateValues>(db, (slot, by) => createStatement(context, slot, by))
    return (upload) => {
      const { credential, deviceId } = upload
      const expected = expectedBy(upload)
      if (expected === undefined) return undefined
      return statement({
        ...resumableValues(upload),
        userCreatedAt: upload.userCreatedAt,
        name: upload.name,
        objectKey: upload.objectKey,
        bytes: upload.length ?? 0,
        leaseMs: firstLeaseMs(upload),
        credential,
        deviceId,
        expected,
      })
    }
  },
  toResult: toResumable,
}

function createStatement(context: SqlContext, slot: Slot<CreateValues>, by: By) {
  const need = {
    ...statementNeed(slot, by),
    version: slot('version'),
    announced: bytesOf(slot),
  }
  const mayReserve = mayCreate(context, need)
  const { reserved, insert } = reservation(context, { slot, by, mayReserve })
  return sql`
    WITH ${reserved}, begun AS (
      ${insert} RETURNING ${UPLOAD_COLUMNS}
    ), created AS (
      ${insertResumable(context.now, slot, sql`FROM begun`)} RETURNING ${RESUMABLE_COLUMNS}
    )
    SELECT created.*, begun.*, ${context.now} AS now, 0 AS is_over FROM created, begun
  `
}
