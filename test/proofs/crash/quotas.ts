import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Tally } from './tally.ts'
import type { World } from './world.ts'

/** Until the signal aborts, holds the quotas against the files and reservations of the same moment (I3, I4). */
export async function watchQuotas(
  { database }: World,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const rows = await database.query((kysely) => sql<Figures>`${FIGURES}`.execute(kysely))
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
