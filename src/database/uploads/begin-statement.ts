import { type Kysely, type RawBuilder, sql } from 'kysely'
import { NEVER } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import type { BeginUpload } from '../../core/uploads/upload-ledger.ts'
import type { Caller } from '../../core/users/caller.ts'
import { COUNTED_BYTES } from '../ledger/counted-bytes.ts'
import { fitsShareOf } from '../ledger/device-share.ts'
import { type SqlContext, text } from '../ledger/ledger-sql.ts'
import { mayBegin } from '../ledger/quota-rule.ts'
import type { BatchStatement } from '../operations/batcher.ts'
import type { Tables } from '../schema.ts'
import { compileOnce, type Slot, type Statement } from '../statement.ts'
import { type Expected, expectedBy, NO_FILE } from './expected-file.ts'

/** `begin` as one statement. Returns no row if the file of that name has expired. */
export const BEGIN_STATEMENT: BatchStatement<BeginUpload, void> = {
  compile: (db, context) => {
    const statement = byActor<ReserveValues>(db, (slot, by) => {
      const mayReserve = mayBegin(context, statementNeed(slot, by))
      const { reserved, insert } = reservation(context, { slot, by, mayReserve })
      return sql`WITH ${reserved} ${insert} RETURNING version`
    })
    return (upload) => {
      const { credential, deviceId } = upload
      const expected = expectedBy(upload)
      if (expected === undefined) return undefined
      return statement({
        ...upload,
        leaseMs: context.times.leaseMs,
        credential,
        deviceId,
        expected,
      })
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
  readonly deviceId: string | undefined
}

/** Who uploads: the account itself, a narrow credential, or a device by either. */
export type By = 'account' | 'narrow' | 'device'

/** A statement for each, since the server also prepares the subqueries that it does not run. */
export function byActor<V extends ReserveValues>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>, by: By) => RawBuilder<unknown>,
): Statement<V> {
  const account = compileOnce<V>(db, (slot) => build(slot, 'account'))
  const narrow = compileOnce<V>(db, (slot) => build(slot, 'narrow'))
  const device = compileOnce<V>(db, (slot) => build(slot, 'device'))
  return (values) => {
    if (values.deviceId !== undefined) return device(values)
    return (values.credential === undefined ? account : narrow)(values)
  }
}

export function bytesOf(slot: Slot<ReserveValues>) {
  return sql`CAST(${slot('bytes')} AS BIGINT)`
}

export function statementNeed(slot: Slot<ReserveValues>, by: By) {
  return {
    userCreatedAt: slot('userCreatedAt'),
    size: bytesOf(slot),
    growth: sql`growth.bytes`,
    ownReserved: sql`0`,
    newFiles: sql`growth.new_files`,
    credential: by === 'account' ? undefined : text(slot('credential')),
  }
}

interface Reservation {
  readonly slot: Slot<ReserveValues>
  readonly by: By
  readonly mayReserve: RawBuilder<boolean>
}

/**
 * The CTEs that reserve the growth where `mayReserve` and the share of the device permit it, and then the INSERT of the
 * row of `uploads`.
 */
export function reservation({ now }: SqlContext, { slot, by, mayReserve }: Reservation) {
  const bytes = bytesOf(slot)
  const isDevice = by === 'device'
  const isOwn = sql`device_id = ${slot('deviceId')}`
  // As `reservedAtFirst`.
  const first = (growth: RawBuilder<unknown>) =>
    sql`CASE WHEN ${text(slot('credential'))} IS NULL THEN ${growth} ELSE 0 END`
  const share = {
    growth: sql`growth.of_share`,
    ownReserved: sql`0`,
    newFiles: sql`growth.new_to_share`,
  }
  const reserved = sql`
    growth AS MATERIALIZED (
      SELECT GREATEST(0, ${bytes} - COALESCE(MAX(${COUNTED_BYTES}), 0)) AS bytes, 1 - COUNT(*) AS new_files,
             COALESCE(MAX(version), ${sql.lit(NO_FILE)}) AS version,
             COALESCE(MAX(expires_at), ${sql.lit(NEVER)}) AS expires_at
             ${
               isDevice
                 ? sql`, GREATEST(0, ${bytes} - COALESCE(MAX(${COUNTED_BYTES}) FILTER (WHERE ${isOwn}), 0))
                   AS of_share, 1 - COUNT(*) FILTER (WHERE ${isOwn}) AS new_to_share`
                 : sql``
             }
      FROM files WHERE user_id = ${slot('userId')} AND name = ${slot('name')}
    ), reserved AS (
      UPDATE quotas SET reserved_bytes = reserved_bytes + ${first(sql`growth.bytes`)}
      FROM growth
      WHERE user_id = ${slot('userId')}
        AND growth.version = COALESCE(${slot('expected')}, growth.version)
        AND growth.expires_at > ${now}
        AND ${mayReserve} ${isDevice ? sql`AND ${fitsShareOf(slot, share)}` : sql``}
      RETURNING ${first(sql`growth.bytes`)} AS bytes
        ${isDevice ? sql`, ${first(share.growth)} AS of_share` : sql``}
    )
  `
  const insert = sql`
    INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, credential, state,
      lease_until ${isDevice ? sql`, device_id, device_reserved` : sql``})
    SELECT ${slot('version')}, ${slot('userId')}, ${slot('name')}, ${slot('objectKey')},
           reserved.bytes, ${slot('credential')}, 'pending',
           ${now} + CAST(${slot('leaseMs')} AS BIGINT)
           ${isDevice ? sql`, ${slot('deviceId')}, reserved.of_share` : sql``}
    FROM reserved
  `
  return { reserved, insert }
}
