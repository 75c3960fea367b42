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
import { evictionOf } from '../ledger/evictable.ts'
import { findRoom } from '../ledger/find-room.ts'
import { assertMayBeginDrop } from '../links/link-ledger.ts'
import { mayCreate, needOf, needValues } from '../ledger/quota-rule.ts'
import { fileNamed } from '../ledger/read-files.ts'
import { refusalReason } from '../ledger/refusal-reason.ts'
import { inline, type Slot } from '../statement.ts'
import { insertUpload, reservedAtFirst } from '../uploads/begin.ts'
import {
  byCredential,
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
  await lockUser(tx, userId)
  const { file, row: replaced } = await fileNamed(tx, upload)
  await assertPrecondition(tx, upload, file)
  if (linkId !== undefined) await assertMayBeginDrop(tx, { userId, linkId, isResumable: true })

  const need = needValues(upload, { size, replaced, ownReserved: 0 })
  const room = await findRoom(tx, need, evictionOf(upload))
  const announcement = {
    ...needOf(need, room),
    version: sql`${version}`,
    announced: bigint(size),
  }
  const mayReserve = mayCreate(tx, announcement)
  const first = reservedAtFirst(need, credential)
  const reserved = await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${first}
    WHERE user_id = ${userId} AND ${mayReserve}
  `.execute(tx.db)
  if (reserved.numAffectedRows !== 1n) {
    const refused = { need, announcement, room, counted: 'maxUnfinished' } as const
    throw await refusalReason(tx, upload, refused)
  }

  const leaseMs = firstLeaseMs(upload)
  const isEvicting = room ? 1 : 0
  const values = { version, userId, name, objectKey, first, isEvicting, leaseMs } as const
  await run(tx, insertUpload, { ...values, credential: credential ?? null })
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
    linkId: upload.linkId ?? null,
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
      metadata, visibility, precondition, link_id, evict, expires_in, expected_sha256, created_at, updated_at, ends_at)
    SELECT ${slot('version')}, ${slot('userId')}, ${number('length')}, ${number('announced')},
      ${number('partSize')}, ${slot('metadata')}, ${slot('visibility')},
      ${slot('storedPrecondition')}, ${slot('linkId')}, ${slot('evict')}, ${number('expiresInMs')}, ${slot('expectedSha256')}, ${now}, ${now},
      ${now} + ${number('maxLifetimeMs')} ${from}
  `
}

type CreateValues = ReserveValues & ResumableValues

/** `createResumable` as one statement. Returns no row if the file of that name has expired. */
export const CREATE_STATEMENT: BatchStatement<CreateResumable, ResumableUpload> = {
  compile: (db, context) => {
    const statement = byCredential<CreateValues>(db, (slot, isNarrow) =>
      createStatement(context, slot, isNarrow),
    )
    return (upload) => {
      const { credential } = upload
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
        expected,
      })
    }
  },
  toResult: toResumable,
}

function createStatement(context: SqlContext, slot: Slot<CreateValues>, isNarrow: boolean) {
  const need = {
    ...statementNeed(slot, isNarrow),
    version: slot('version'),
    announced: bytesOf(slot),
  }
  const { reserved, insert } = reservation(context, slot, mayCreate(context, need))
  return sql`
    WITH ${reserved}, begun AS (
      ${insert} RETURNING ${UPLOAD_COLUMNS}
    ), created AS (
      ${insertResumable(context.now, slot, sql`FROM begun`)} RETURNING ${RESUMABLE_COLUMNS}
    )
    SELECT created.*, begun.*, ${context.now} AS now, 0 AS is_over FROM created, begun
  `
}
