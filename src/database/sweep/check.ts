import { randomBytes } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../schema.ts'

/** A full disk still answers reads, so a write must succeed first. */
export async function check(database: Database): Promise<number> {
  const { now } = database
  await database.proveWritable((db) => writeProbe(db, now))
  const { rows } = await database.query((db) =>
    sql<{ now: number }>`SELECT ${now} AS now`.execute(db),
  )
  return rows[0]?.now ?? Number.NaN
}

async function writeProbe(db: Kysely<Tables>, now: RawBuilder<number>): Promise<void> {
  // SQLite does not write unchanged pages.
  const probe = randomBytes(PROBE_BYTES / 2).toString('hex')
  await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES ('write_probe', ${probe}, ${now})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until
  `.execute(db)
}

/** About the size of a commit; a full disk may still have room for one page. */
const PROBE_BYTES = 32 * 1024
