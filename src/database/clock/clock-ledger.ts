import { sql } from 'kysely'
import type { ClockLedger, StoredClock } from '../../core/clock/clock-ledger.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { Session } from '../ledger/session.ts'
import { pullBack } from './pull-back.ts'
import { SAFE_CLOCK } from './safe-now.ts'

export function createClockLedger({ query }: Session): ClockLedger {
  return {
    readClock: () => query(readClock),
    storeClock: (clock) => query((tx) => storeClock(tx, clock)),
    pullBack: async (longest) => {
      // Each statement is complete alone, and locks no more rows than it changes.
      for (const statement of pullBack) await query((tx) => statement(tx, longest).execute(tx.db))
    },
  }
}

async function readClock({ db, now }: LedgerTx): Promise<StoredClock> {
  const { rows } = await sql<{ readonly now: number; readonly stored: string | null }>`
    SELECT ${now} AS now, (SELECT holder FROM leader_leases WHERE name = ${SAFE_CLOCK}) AS stored
  `.execute(db)
  return { now: rows[0]?.now ?? Number.NaN, stored: rows[0]?.stored ?? undefined }
}

async function storeClock(
  { db }: LedgerTx,
  { before, after, safe }: Parameters<ClockLedger['storeClock']>[0],
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES (${SAFE_CLOCK}, ${after}, ${safe})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until
    WHERE leader_leases.holder = ${before ?? ''}
  `.execute(db)
  return numAffectedRows === 1n
}
