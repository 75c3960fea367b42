import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Tally } from './tally.ts'
import type { World } from './world.ts'

/** Until the signal aborts, holds the quotas against the files and reservations of the same moment (I3, I4, I16). */
export async function watchQuotas(
  { database }: World,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const rows = await database.query((kysely) => sql<Figures>`${FIGURES}`.execute(kysely))
    await checkDevices(database, tally)
    tally.checkedQuotas += rows.rows.length
    for (const { user_id: userId, ...figures } of rows.rows) {
      const [used, stored, reserved, pending] = Object.values(figures).map(Number)
      if (used === stored && reserved === pending) continue
      tally.report('quota', `${userId} had ${JSON.stringify(figures)}`)
    }
    await delay(INTERVAL_MS)
  }
}

const INTERVAL_MS = 500

interface Figures {
  readonly user_id: string
  readonly used: number
  readonly stored: number
  readonly reserved: number
  readonly pending: number
}

// One statement, which sees one moment.
const FIGURES = sql`
  SELECT user_id, used_bytes AS used,
    (SELECT COALESCE(SUM(size), 0) FROM files WHERE files.user_id = quotas.user_id) AS stored,
    reserved_bytes AS reserved,
    (SELECT COALESCE(SUM(reserved_bytes), 0) FROM uploads
      WHERE uploads.user_id = quotas.user_id AND state = 'pending') AS pending
  FROM quotas`

async function checkDevices(database: World['database'], tally: Tally): Promise<void> {
  const { rows } = await database.query((kysely) => sql<DeviceFigures>`${DEVICES}`.execute(kysely))
  tally.checkedQuotas += rows.length
  for (const { device_id: deviceId, ...figures } of rows) {
    const [used, stored, counted, files] = Object.values(figures).map(Number)
    if (used === stored && counted === files) continue
    tally.report('quota', `the device ${deviceId} had ${JSON.stringify(figures)}`)
  }
}

interface DeviceFigures {
  readonly device_id: string
  readonly used: number
  readonly stored: number
  readonly counted: number
  readonly files: number
}

const DEVICES = sql`
  SELECT device_id, SUM(used) AS used, SUM(stored) AS stored, SUM(counted) AS counted, SUM(files) AS files
  FROM (
    SELECT user_id, device_id, used_bytes AS used, 0 AS stored, file_count AS counted, 0 AS files
    FROM device_usage
    UNION ALL
    SELECT user_id, device_id, 0, size + metadata_bytes, 0, 1 FROM files WHERE device_id IS NOT NULL
  ) AS figures
  GROUP BY user_id, device_id`
