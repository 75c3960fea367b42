import { type RawBuilder, sql } from 'kysely'
import { type File, NEVER } from '../../core/files/file.ts'
import { NO_METADATA } from '../../core/files/metadata.ts'
import type { CommittedUpload, CommitUpload } from '../../core/uploads/upload-ledger.ts'
import type { Usage } from '../../core/users/account-ledger.ts'
import { TRIM_EVERY } from '../changes/record.ts'
import type { BatchStatement } from '../operations/batcher.ts'
import { removableAt } from '../ledger/garbage.ts'
import type { SqlContext } from '../ledger/ledger-sql.ts'
import { countHistory, garbageBytes, metadataBytesOf } from '../ledger/counted-bytes.ts'
import { ADD_USAGE } from '../ledger/device-usage.ts'
import { fitsShareOf } from '../ledger/device-share.ts'
import { nextDate } from '../ledger/dates.ts'
import { mayCommit } from '../ledger/quota-rule.ts'
import {
  FILE_COLUMNS,
  INSERT_FILE,
  INSERT_PAST,
  outcomeJson,
  REPLACE_FILE,
  USAGE_COLUMNS,
} from '../ledger/rows.ts'
import { compileOnce, type Slot } from '../statement.ts'
import { type Expected, expectedBy, NO_FILE } from './expected-file.ts'

/** `commit` as one statement. */
export const COMMIT_STATEMENT: BatchStatement<CommitUpload, CommittedUpload> = {
  compile: (db, context) => {
    const [other, device] = [false, true].map((isDevice) =>
      compileOnce<CommitValues>(db, (slot) => commitStatement(context, slot, isDevice)),
    )
    return (upload) => {
      const expected = expectedBy(upload)
      if (expected === undefined) return undefined
      const statement = upload.deviceId === undefined ? other : device
      return statement?.({ ...upload, expected })
    }
  },
  toResult: toCommitted,
}

type CommitValues = CommitUpload & Expected

type CommittedRow = File & Usage & { readonly replaced: boolean }

/**
 * Held to `commit` and `applyChanges` by tests. Returns no row if the rule, or what is expected, does not hold, if the
 * upload is of another device than the caller's, or if the old file is of a device and the upload of another one or
 * none. Joins the old file as `findUpload` does.
 */
function commitStatement(context: SqlContext, slot: Slot<CommitValues>, isDevice: boolean) {
  const { now, capacity } = context
  const size = sql`CAST(${slot('size')} AS BIGINT)`
  const crc32 = sql`CAST(${slot('crc32')} AS BIGINT)`
  const metadata = sql`COALESCE(found.sent_metadata, old.metadata)`
  const metadataBytes = metadataBytesOf(metadata)
  const need = {
    userCreatedAt: slot('userCreatedAt'),
    size: sql`change.counted`,
    growth: sql`change.growth`,
    ownReserved: sql`change.reserved`,
    newFiles: sql`CASE WHEN change.replaced THEN 0 ELSE 1 END`,
    credential: sql`change.credential`,
  }
  const deviceId = isDevice ? slot('deviceId') : sql`NULL`
  const isDevices = (row: RawBuilder<unknown>) =>
    isDevice ? sql`${row} = ${deviceId}` : sql`${row} IS NULL`
  return sql`
    WITH found AS MATERIALIZED (
      SELECT user_id AS owner, name, object_key, reserved_bytes AS reserved,
             ${isDevice ? sql`device_reserved,` : sql``} credential, COALESCE(credential, ${slot('credential')}) AS actor,
             CAST(${slot('metadata')} AS TEXT) AS sent_metadata, ${now} AS now
      FROM uploads
      WHERE version = ${slot('version')} AND user_id = ${slot('userId')} AND state = 'pending'
        AND ${isDevices(sql`device_id`)}
    ), change AS MATERIALIZED (
      SELECT found.*, old.object_key AS old_key, COALESCE(old.size, 0) AS old_size,
             old.name IS NOT NULL AS replaced, COALESCE(old.version, ${sql.lit(NO_FILE)}) AS old_version,
             COALESCE(old.size + old.metadata_bytes, 0) AS old_counted,
             ${metadataBytes} AS metadata_bytes, ${size} + ${metadataBytes} AS counted,
             GREATEST(0, ${size} + ${metadataBytes} - COALESCE(old.size + old.metadata_bytes, 0)) AS growth,
             COALESCE(${slot('visibility')}, old.visibility, 'private') AS visibility,
             COALESCE(old.expires_at, ${sql.lit(NEVER)}) AS old_expires_at, old.device_id AS old_device,
             COALESCE(old.is_kept, 0) AS is_kept, ${lastModified()} AS old_modified_at,
             CAST(${slot('mediaType')} AS TEXT) AS media_type,
             NULLIF(${metadata}, ${sql.lit(NO_METADATA)}) AS metadata,
             ${expiry(slot)} AS expires_at,
             CASE WHEN actor IS NOT NULL AND ${isHeld(slot)} THEN old.stored_by
                  ELSE actor END AS stored_by
             ${keepsHistory(context) ? whatIsPast(slot) : sql``}
      FROM found
      LEFT JOIN files AS old ON old.user_id = found.owner AND old.name = found.name
    ), moved AS (
      UPDATE quotas
      SET used_bytes = used_bytes - change.old_counted + change.counted,
          reserved_bytes = reserved_bytes - change.reserved,
          file_count = file_count + CASE WHEN change.replaced THEN 0 ELSE 1 END,
          ${keepsHistory(context) ? sql`${countPast(context)},` : sql``}
          change_count = change_count + 1, previously_changed_at = changed_at,
          newest_at = ${nextDate(sql`change.now`)}, changed_at = ${nextDate(sql`change.now`)}
      FROM change
      WHERE user_id = ${slot('userId')}
        AND change.old_version = COALESCE(${slot('expected')}, change.old_version)
        AND change.old_expires_at > change.now
        AND (change.old_device IS NULL ${isDevice ? sql`OR ${isDevices(sql`change.old_device`)}` : sql``})
        ${keepsHistory(context) ? sql`AND NOT change.may_protect` : sql``}
        AND ${mayCommit(context, need)}
        ${isDevice ? sql`AND ${fitsShareOf(slot, SHARE_NEED)}` : sql``}
        AND capacity_state = ${stateOf(sql`used_bytes - change.old_counted + change.counted`, capacity)}
        AND (change_count + 1) % ${sql.lit(TRIM_EVERY)} <> 0
      RETURNING ${USAGE_COLUMNS}, ${capacity} AS capacity, change_count, previously_changed_at,
                newest_at AS at, freed_at
    ), recorded AS (
      INSERT INTO changes
        (user_id, sequence, type, at, previous_at, name, version, size, sha256, visibility, media_type,
         device_id)
      SELECT ${slot('userId')}, change_count,
             CASE WHEN replaced THEN 'file.replaced' ELSE 'file.created' END, at,
             previously_changed_at, name, ${slot('version')}, ${size}, ${slot('sha256')}, visibility,
             media_type, ${deviceId}
      FROM change, moved
    ), ${isDevice ? counted(slot) : sql``} ${context.queuesWebhooks ? queued(slot) : sql``} put AS (
      ${INSERT_FILE}
      SELECT ${slot('userId')}, name, ${slot('version')}, object_key, ${size}, ${slot('sha256')},
             ${crc32}, visibility, at, at, media_type, metadata, ${deviceId}, expires_at, is_kept, metadata_bytes,
             ${dateAfter(sql`CASE WHEN replaced THEN old_modified_at ELSE freed_at END`)}, stored_by
      FROM change, moved
      ${REPLACE_FILE}
      RETURNING ${FILE_COLUMNS}
    ), settled AS (
      UPDATE uploads
      SET state = 'committed', settled_at = change.now,
          outcome = ${outcomeJson({ file: 'put', replaced: sql`change.replaced` })}
      FROM put, change
      WHERE uploads.version = put.version AND uploads.state = 'pending'
    ), ${keepsHistory(context) ? past(slot) : sql``} discarded AS (
      INSERT INTO garbage (object_key, not_before, user_id, bytes)
      SELECT old_key, ${removableAt(context)}, ${slot('userId')}, ${garbageBytes(sql`old_size`)}
      FROM change, moved
      WHERE old_key IS NOT NULL ${keepsHistory(context) ? sql`AND past = 0` : sql``}
    )
    SELECT put.*, change.replaced, moved.used, moved.reserved, moved."fileCount", moved.capacity
    FROM put, change, moved
  `
}

const NEW_TO_DEVICE = sql`CASE WHEN change.old_device IS NULL THEN 1 ELSE 0 END`

/** As `shareNeed`. */
const SHARE_NEED = {
  growth: sql`GREATEST(0, change.counted - CASE WHEN change.old_device IS NULL THEN 0 ELSE change.old_counted END)`,
  ownReserved: sql`change.device_reserved`,
  newFiles: NEW_TO_DEVICE,
}

/** As `countDevices`. */
function counted(slot: Slot<CommitValues>) {
  const [userId, deviceId] = [slot('userId'), slot('deviceId')]
  return sql`added AS (
    INSERT INTO device_usage (user_id, device_id, used_bytes, file_count)
    SELECT ${userId}, ${deviceId}, counted, 1 FROM change, moved WHERE old_device IS NULL
    ${ADD_USAGE}
  ), resized AS (
    UPDATE device_usage SET used_bytes = used_bytes - old_counted + counted FROM change, moved
    WHERE user_id = ${userId} AND device_id = ${deviceId} AND old_device IS NOT NULL
  ),`
}

/** Of the new file. */
function expiry(slot: Slot<CommitValues>) {
  return sql`COALESCE(now + CAST(${slot('expiresInMs')} AS BIGINT), ${sql.lit(NEVER)})`
}

/** As the function of this name, of the row `old`. */
function lastModified() {
  return sql`GREATEST(${wholeSecond(sql`old.updated_at`)}, old.modified_at)`
}

/** As the function of this name, for a commit `at`. */
function dateAfter(previous: RawBuilder<unknown>) {
  return sql`(
    SELECT CASE WHEN previous < ${wholeSecond(sql`at`)} THEN 0 ELSE previous + 1000 END
    FROM (SELECT ${previous} AS previous) AS dates
  )`
}

function wholeSecond(time: RawBuilder<unknown>) {
  return sql`(${time} - ${time} % 1000)`
}

function keepsHistory({ historyLifetimeMs }: SqlContext): boolean {
  return historyLifetimeMs > 0
}

/** As the function of this name, of the row `old`; `NULL` without one. */
function isHeld(slot: Slot<CommitValues>) {
  return sql`(old.sha256 = ${slot('sha256')} AND ${expiry(slot)} >= old.expires_at)`
}

/**
 * As `becomesPast` in `applyChanges`: 1 if the old content becomes history, else 0. What may have to be protected is left
 * to the steps.
 */
function whatIsPast(slot: Slot<CommitValues>) {
  const isPast = sql`NOT ${isHeld(slot)}`
  return sql`,
    CASE WHEN ${isPast} THEN 1 ELSE 0 END AS past, old.sha256 AS old_sha256,
    old.crc32 AS old_crc32, old.visibility AS old_visibility, old.created_at AS old_created_at,
    old.updated_at AS old_updated_at, old.media_type AS old_media_type,
    old.metadata AS old_metadata, old.stored_by AS old_stored_by,
    COALESCE(${isPast} AND actor IS NOT NULL
      AND old.stored_by IS DISTINCT FROM actor, FALSE) AS may_protect
  `
}

function countPast(context: SqlContext) {
  const bytes = sql`(past * ${garbageBytes(sql`old_size`)})`
  return countHistory(context, { bytes, versions: sql`past` })
}

function past(slot: Slot<CommitValues>) {
  return sql`past AS (
    ${INSERT_PAST}
    SELECT ${slot('userId')}, name, old_version, old_key, old_size, old_sha256, old_crc32, old_visibility,
           old_created_at, old_updated_at, old_media_type, old_metadata, old_device, at, 'replaced',
           old_expires_at, old_stored_by, actor, 0
    FROM change, moved WHERE past = 1
  ),`
}

/** As `queueChanges`. */
function queued(slot: Slot<CommitValues>) {
  return sql`queued AS (
    INSERT INTO webhook_queues (user_id, delivered, waiting_since, due_at)
    SELECT ${slot('userId')}, change_count - 1, now, now FROM change, moved
    ON CONFLICT (user_id) DO NOTHING
  ),`
}

/** As `capacityState`. */
function stateOf(used: RawBuilder<unknown>, capacity: RawBuilder<number>) {
  return sql`(
    SELECT CASE WHEN used > capacity THEN 'exceeded'
                WHEN (capacity - used) * 100 <= capacity THEN 'critical'
                WHEN (capacity - used) * 10 <= capacity THEN 'nearing'
                ELSE 'normal' END
    FROM (SELECT ${used} AS used, ${capacity} AS capacity) AS figures
  )`
}

function toCommitted(row: CommittedRow): CommittedUpload {
  const { replaced, capacity, used, reserved, fileCount, ...file } = row
  return { file, replaced, usage: { capacity, used, reserved, fileCount } }
}
