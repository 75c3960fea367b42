import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { NEVER } from '../../core/files/file.ts'
import type { BeginUpload, CommitUpload } from '../../core/uploads/upload-ledger.ts'
import type { CreateResumable } from '../../core/resumable/resumable-ledger.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import { limitFor, shareOf } from '../../core/quota/shares.ts'
import type { Caller } from '../../core/users/caller.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { COUNTED_BYTES } from '../ledger/counted-bytes.ts'
import { type Rule, text } from '../ledger/ledger-sql.ts'
import { mayBegin, mayCreate, mostIn, type MostValues, mostValues } from '../ledger/quota-rule.ts'
import {
  firstLeaseMs,
  insertResumable,
  type ResumableValues,
  resumableValues,
} from '../resumable/create.ts'
import { RESUMABLE_COLUMNS, UPLOAD_COLUMNS } from '../resumable/rows.ts'
import type { Tables } from '../schema.ts'
import { compileOnce, type Slot, type Statement } from '../statement.ts'
import {
  commitStatement,
  type CommitValues,
  type Expected,
  expectedBy,
  NO_FILE,
} from './commit-statement.ts'

interface ReserveValues extends Caller, Expected {
  readonly version: Version
  readonly name: FileName
  readonly objectKey: ObjectKey
  readonly bytes: number
  readonly maxFiles: number
  readonly leaseMs: number
  readonly credential: string | undefined
}

type BeginValues = ReserveValues & MostValues

type CreateValues = BeginValues & ResumableValues

/**
 * One PostgreSQL statement each, under the user's lock from an earlier statement. If it returns no row, nothing
 * changed, and the caller goes step by step. `undefined` for preconditions other than "no file" and "this version", for
 * uploads that evict, and for those by a link. If the file of that name has expired, none returns a row.
 */
export type UploadStatements = ReturnType<typeof uploadStatements>

export function uploadStatements(db: Kysely<Tables>, rule: Rule) {
  const begin = byKind<BeginValues>(db, (slot, isNarrow) => beginStatement(rule, slot, isNarrow))
  const create = byKind<CreateValues>(db, (slot, isNarrow) => createStatement(rule, slot, isNarrow))
  const commit = compileOnce<CommitValues>(db, (slot) => commitStatement(rule, slot))
  return {
    lock: compileOnce<{ readonly userId: UserId }>(
      db,
      (slot) => sql`SELECT user_id FROM quotas WHERE user_id = ${slot('userId')} FOR UPDATE`,
    ),
    lockFree: compileOnce<{ readonly userIds: readonly UserId[] }>(
      db,
      (slot) =>
        sql`SELECT user_id FROM quotas WHERE user_id = ANY(${slot('userIds')}) FOR UPDATE SKIP LOCKED`,
    ),
    begin(upload: BeginUpload): CompiledQuery | undefined {
      const { credential } = upload
      const expected = expectedBy(upload)
      if (expected === undefined) return undefined
      const maxFiles = limitFor(upload.maxFiles, credential)
      const most = mostValues(upload.maxUploads, credential)
      return begin({ ...upload, ...most, credential, maxFiles, expected })
    },
    create(upload: CreateResumable): CompiledQuery | undefined {
      const { credential } = upload
      const expected = expectedBy(upload)
      if (expected === undefined) return undefined
      return create({
        ...resumableValues(upload),
        ...mostValues(upload.maxUnfinished, credential),
        userCreatedAt: upload.userCreatedAt,
        name: upload.name,
        objectKey: upload.objectKey,
        bytes: upload.length ?? 0,
        maxFiles: limitFor(upload.maxFiles, credential),
        leaseMs: firstLeaseMs(upload),
        credential,
        expected,
      })
    },
    commit(upload: CommitUpload): CompiledQuery | undefined {
      const expected = expectedBy(upload)
      if (expected === undefined) return undefined
      const narrowMaxFiles = shareOf(upload.maxFiles).all
      return commit({ ...upload, narrowMaxFiles, expected })
    },
  }
}

/** Two statements, since the server also prepares the subqueries that it does not run. */
function byKind<V extends BeginValues>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>, isNarrow: boolean) => RawBuilder<unknown>,
): Statement<V> {
  const narrow = compileOnce<V>(db, (slot) => build(slot, true))
  const other = compileOnce<V>(db, (slot) => build(slot, false))
  return (values) => (values.credential === undefined ? other : narrow)(values)
}

function beginStatement(rule: Rule, slot: Slot<BeginValues>, isNarrow: boolean) {
  const mayReserve = mayBegin(rule, needOf(slot, isNarrow), mostIn(slot))
  const { reserved, insert } = reserve(rule, slot, mayReserve)
  return sql`WITH ${reserved} ${insert} RETURNING version`
}

function createStatement(rule: Rule, slot: Slot<CreateValues>, isNarrow: boolean) {
  const need = { ...needOf(slot, isNarrow), version: slot('version'), announced: bytesOf(slot) }
  const { reserved, insert } = reserve(rule, slot, mayCreate(rule, need, mostIn(slot)))
  return sql`
    WITH ${reserved}, begun AS (
      ${insert} RETURNING ${UPLOAD_COLUMNS}
    ), created AS (
      ${insertResumable(rule.now, slot, sql`FROM begun`)} RETURNING ${RESUMABLE_COLUMNS}
    )
    SELECT created.*, begun.*, ${rule.now} AS now, 0 AS is_over FROM created, begun
  `
}

function bytesOf(slot: Slot<ReserveValues>) {
  return sql`CAST(${slot('bytes')} AS BIGINT)`
}

function needOf(slot: Slot<ReserveValues>, isNarrow: boolean) {
  return {
    userCreatedAt: slot('userCreatedAt'),
    size: bytesOf(slot),
    growth: sql`growth.bytes`,
    ownReserved: sql`0`,
    newFiles: sql`growth.new_files`,
    maxFiles: slot('maxFiles'),
    credential: isNarrow ? text(slot('credential')) : undefined,
  }
}

/** The CTEs that reserve the growth where `mayReserve` holds, and then the INSERT of the row of `uploads`. */
function reserve({ now }: Rule, slot: Slot<BeginValues>, mayReserve: RawBuilder<boolean>) {
  const bytes = bytesOf(slot)
  // As `reservedAtFirst`.
  const first = sql`CASE WHEN ${text(slot('credential'))} IS NULL THEN growth.bytes ELSE 0 END`
  const reserved = sql`
    growth AS MATERIALIZED (
      SELECT GREATEST(0, ${bytes} - COALESCE(MAX(${COUNTED_BYTES}), 0)) AS bytes, 1 - COUNT(*) AS new_files,
             COALESCE(MAX(version), ${sql.lit(NO_FILE)}) AS version,
             COALESCE(MAX(expires_at), ${sql.lit(NEVER)}) AS expires_at
      FROM files WHERE user_id = ${slot('userId')} AND name = ${slot('name')}
    ), reserved AS (
      UPDATE quotas SET reserved_bytes = reserved_bytes + ${first}
      FROM growth
      WHERE user_id = ${slot('userId')}
        AND growth.version = COALESCE(${slot('expected')}, growth.version)
        AND growth.expires_at > ${now}
        AND ${mayReserve}
      RETURNING ${first} AS bytes
    )
  `
  const insert = sql`
    INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, credential, state,
      lease_until)
    SELECT ${slot('version')}, ${slot('userId')}, ${slot('name')}, ${slot('objectKey')},
           reserved.bytes, ${slot('credential')}, 'pending',
           ${now} + CAST(${slot('leaseMs')} AS BIGINT)
    FROM reserved
  `
  return { reserved, insert }
}
