import { type Kysely, type RawBuilder, sql } from 'kysely'
import { NEVER } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import type { BeginUpload } from '../../core/uploads/upload-ledger.ts'
import type { Caller } from '../../core/users/caller.ts'
import { COUNTED_BYTES } from '../ledger/counted-bytes.ts'
import { type SqlContext, text } from '../ledger/ledger-sql.ts'
import { mayBegin } from '../ledger/quota-rule.ts'
import type { BatchStatement } from '../operations/batcher.ts'
import type { Tables } from '../schema.ts'
import { compileOnce, type Slot, type Statement } from '../statement.ts'
import { type Expected, expectedBy, NO_FILE } from './expected-file.ts'

/** `begin` as one statement. Returns no row if the file of that name has expired. */
export const BEGIN_STATEMENT: BatchStatement<BeginUpload, void> = {
  compile: (db, context) => {
    const statement = byCredential<ReserveValues>(db, (slot, isNarrow) => {
      const mayReserve = mayBegin(context, statementNeed(slot, isNarrow))
      const { reserved, insert } = reservation(context, slot, mayReserve)
      return sql`WITH ${reserved} ${insert} RETURNING version`
    })
    return (upload) => {
      const { credential } = upload
      const expected = expectedBy(upload)
      if (expected === undefined) return undefined
      return statement({ ...upload, leaseMs: context.times.leaseMs, credential, expected })
    }
  },
  toResult: () => undefined,
}

/** The values of a statement that reserves the bytes of an upload, and inserts its row. */
export interface ReserveValues extends Caller, Expected {
  readonly version: Version
  readonly name: FileName
  readonly objectKey: ObjectKey
  readonly bytes: number
  readonly leaseMs: number
  readonly credential: string | undefined
}

/** Two statements, since the server also prepares the subqueries that it does not run. */
export function byCredential<V extends ReserveValues>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>, isNarrow: boolean) => RawBuilder<unknown>,
): Statement<V> {
  const narrow = compileOnce<V>(db, (slot) => build(slot, true))
  const other = compileOnce<V>(db, (slot) => build(slot, false))
  return (values) => (values.credential === undefined ? other : narrow)(values)
}

export function bytesOf(slot: Slot<ReserveValues>) {
  return sql`CAST(${slot('bytes')} AS BIGINT)`
}

export function statementNeed(slot: Slot<ReserveValues>, isNarrow: boolean) {
  return {
    userCreatedAt: slot('userCreatedAt'),
    size: bytesOf(slot),
    growth: sql`growth.bytes`,
    ownReserved: sql`0`,
    newFiles: sql`growth.new_files`,
    credential: isNarrow ? text(slot('credential')) : undefined,
  }
}

/** The CTEs that reserve the growth where `mayReserve` holds, and then the INSERT of the row of `uploads`. */
export function reservation(
  { now }: SqlContext,
  slot: Slot<ReserveValues>,
  mayReserve: RawBuilder<boolean>,
) {
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
