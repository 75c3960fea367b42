import { type RawBuilder, sql } from 'kysely'
import { DEVICE } from '../../core/quota/grants.ts'
import type { DeviceUsage } from '../../core/quota/device-usage.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { GrantRow } from '../schema.ts'
import { toGrant } from './grants.ts'

/** A row of `grants` with `DEVICE_COLUMNS`. */
export interface DeviceRow extends GrantRow {
  readonly device_used: number | null
  readonly device_reserved: number | null
  readonly device_files: number | null
  readonly device_newest_at: number | null
}

/** What `joinDevices` joins to a row of `grants`. */
export const DEVICE_COLUMNS = sql`
  device_used, device_files, device_reserved,
  CASE WHEN device_files > 0 THEN (
    SELECT MAX(updated_at) FROM files
    WHERE files.user_id = grants.user_id AND files.device_id = reference
  ) END AS device_newest_at
`

/** SQL that joins the figures of the user's devices to `grants`. */
export function joinDevices(userId: UserId): RawBuilder<unknown> {
  return sql`
    LEFT JOIN (
      SELECT device_id, used_bytes AS device_used, file_count AS device_files FROM device_usage
      WHERE user_id = ${userId}
    ) AS usages ON source = ${DEVICE} AND usages.device_id = reference
    LEFT JOIN (
      SELECT device_id, CAST(SUM(device_reserved) AS BIGINT) AS device_reserved FROM uploads
      WHERE user_id = ${userId} AND state = 'pending' AND device_id IS NOT NULL
      GROUP BY device_id
    ) AS pending ON source = ${DEVICE} AND pending.device_id = reference
  `
}

export async function reportDevices(
  { db }: LedgerTx,
  userId: UserId,
): Promise<readonly DeviceUsage[]> {
  const { rows } = await sql<DeviceRow>`
    SELECT grants.*, ${DEVICE_COLUMNS} FROM grants ${joinDevices(userId)}
    WHERE grants.user_id = ${userId} AND source = ${DEVICE} ORDER BY reference
  `.execute(db)
  return rows.map(toDeviceUsage)
}

export function toDeviceUsage(row: DeviceRow): DeviceUsage {
  const { reference, label, model, bytes, share = 'all' } = toGrant(row)
  return {
    deviceId: reference,
    label,
    model,
    bytes,
    share,
    used: row.device_used ?? 0,
    reserved: row.device_reserved ?? 0,
    fileCount: row.device_files ?? 0,
    newestAt: row.device_newest_at ?? undefined,
  }
}
