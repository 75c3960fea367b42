import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Ledger } from '../../core/ledger/ledger.ts'
import type { Clocked } from './ledger-sql.ts'

/** Takes the chore or prolongs its lease: the WHERE of the UPDATE decides, so of all who ask at once one has it. */
export async function holdChore(
  { db, now }: Clocked,
  { name, holder, leaseMs }: Parameters<Ledger['holdChore']>[0],
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO chores (name, holder, lease_until) VALUES (${name}, ${holder}, ${now} + ${leaseMs})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until
    WHERE chores.holder = excluded.holder OR chores.lease_until <= ${now}
  `.execute(db)
  return numAffectedRows === 1n
}

export async function leaveChore(
  { db }: Clocked,
  { name, holder }: Parameters<Ledger['leaveChore']>[0],
): Promise<void> {
  await sql`DELETE FROM chores WHERE name = ${name} AND holder = ${holder}`.execute(db)
}

/** A commit writes about as much; a full disk may still have room for a page. */
const PROBE_BYTES = 32 * 1024

/** Changes a row of its own, which nothing reads. */
export async function proveWritable({ db, now }: Clocked): Promise<void> {
  // SQLite writes no page that stays as it was.
  const probe = randomBytes(PROBE_BYTES / 2).toString('hex')
  await sql`
    INSERT INTO chores (name, holder, lease_until) VALUES ('write_probe', ${probe}, ${now})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until
  `.execute(db)
}
