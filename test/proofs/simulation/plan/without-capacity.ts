import { sql } from 'kysely'
import type { CapacityState } from '../../../../src/core/quota/capacity.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { Database } from '../../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../../src/database/ledger.ts'
import type { QuotaRow } from '../../../../src/database/schema.ts'
import type { World } from '../world/world.ts'

/**
 * Has a ledger work for which there is always room. The state of the capacity that it records stays that of the user's
 * own: what uses this is no bug of the feed.
 */
export async function withoutCapacity<T>(
  { database, ledger, ledgerOptions }: World,
  userId: UserId,
  work: (boundless: Ledger) => Promise<T>,
): Promise<T> {
  const boundless = createLedger(database, { ...ledgerOptions, baseCapacity: 2 ** 40 })
  const told = await tellState(database, userId, null)
  try {
    return await work(boundless)
  } finally {
    await tellState(database, userId, told)
    await ledger.noteCapacity({ userId, since: 0 })
  }
}

/** Replaces the recorded state of the capacity, and returns the one before. */
async function tellState(
  { kysely }: Database,
  userId: UserId,
  state: CapacityState | null,
): Promise<CapacityState | null> {
  const { rows } = await sql<Pick<QuotaRow, 'capacity_state'>>`
    SELECT capacity_state FROM quotas WHERE user_id = ${userId}
  `.execute(kysely)
  await sql`UPDATE quotas SET capacity_state = ${state} WHERE user_id = ${userId}`.execute(kysely)
  return rows[0]?.capacity_state ?? null
}
