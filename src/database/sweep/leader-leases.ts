import { sql } from 'kysely'
import { type LeaderLeases, LONGEST_LEASE_MS } from '../../core/sweep/leader-lease.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'

export const LEADER_LEASE_OPERATIONS = {
  acquireLeaderLease: { through: 'query', run: acquire, effect: 'frees' },
  releaseLeaderLease: { through: 'query', run: release, effect: 'frees' },
} as const satisfies Operations<LeaderLeases>

/**
 * The WHERE of the UPDATE decides, so that exactly one concurrent caller holds the lease. A lease that ends later than
 * the longest that begins now comes from a clock that was ahead, and is over.
 */
async function acquire(
  { db, now }: LedgerTx,
  { name, holder, leaseMs }: Parameters<LeaderLeases['acquireLeaderLease']>[0],
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES (${name}, ${holder}, ${now} + ${leaseMs})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until
    WHERE leader_leases.holder = excluded.holder OR leader_leases.lease_until <= ${now}
      OR leader_leases.lease_until > ${now} + ${Math.max(leaseMs, LONGEST_LEASE_MS)}
  `.execute(db)
  return numAffectedRows === 1n
}

async function release(
  { db }: LedgerTx,
  { name, holder }: Parameters<LeaderLeases['releaseLeaderLease']>[0],
): Promise<void> {
  await sql`DELETE FROM leader_leases WHERE name = ${name} AND holder = ${holder}`.execute(db)
}
