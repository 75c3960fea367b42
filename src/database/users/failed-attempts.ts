import { sql } from 'kysely'
import type { ClientAddress } from '../../core/auth/client-address.ts'
import type { FailedAttemptCount } from '../../core/auth/failed-attempts.ts'
import type { FailedAttemptStore, SharedCounts } from '../../core/auth/failed-attempt-store.ts'
import type { Clocked } from '../ledger/ledger-sql.ts'
import type { Database } from '../database.ts'

export function createFailedAttemptStore(database: Database): FailedAttemptStore {
  const { now, forUpdate } = database
  return {
    update: (addresses, next) =>
      database.transaction((db) => update({ db, now, forUpdate }, { addresses, next })),
    forgetExpired: (limit) => database.query((db) => forgetExpired({ db, now }, limit)),
  }
}

type Locking = Clocked & Pick<Database, 'forUpdate'>

interface Update {
  readonly addresses: Parameters<FailedAttemptStore['update']>[0]
  readonly next: Parameters<FailedAttemptStore['update']>[1]
}

async function update(locking: Locking, { addresses, next }: Update): Promise<SharedCounts> {
  const rows = await lock(locking, addresses)
  const updates = rows.map(({ address, now, ...before }) => ({
    address,
    before,
    count: next(address, before, now),
  }))
  await write(
    locking,
    updates.filter(({ before, count }) => count !== before),
  )
  return {
    counts: new Map(updates.map(({ address, count }) => [address, count])),
    now: rows[0]?.now ?? Number.NaN,
  }
}

interface LockedCount extends FailedAttemptCount {
  readonly address: ClientAddress
  readonly now: number
}

async function lock(
  { db, now, forUpdate }: Locking,
  addresses: Update['addresses'],
): Promise<readonly LockedCount[]> {
  // Uses one order, so that no two instances deadlock.
  const sorted = [...addresses].sort()
  await sql`
    INSERT INTO guesses (address, guesses, window_ends_at, blocks, blocked_until, expires_at)
    VALUES ${sql.join(sorted.map((address) => sql`(${address}, 0, 0, 0, 0, 0)`))}
    ON CONFLICT (address) DO NOTHING
  `.execute(db)
  const { rows } = await sql<LockedCount>`
    SELECT address, guesses AS "failedAttempts", window_ends_at AS "windowEndsAt", blocks,
      blocked_until AS "blockedUntil", expires_at AS "expiresAt", ${now} AS now
    FROM guesses
    WHERE address IN (${sql.join(sorted)})
    ORDER BY address ${forUpdate ?? sql``}
  `.execute(db)
  return rows
}

async function write(
  { db }: Clocked,
  written: readonly { readonly address: string; readonly count: FailedAttemptCount }[],
): Promise<void> {
  if (written.length === 0) return
  const rows = written.map(({ address, count }) => {
    const { failedAttempts, windowEndsAt, blocks, blockedUntil, expiresAt } = count
    return sql`(${address}, ${failedAttempts}, ${windowEndsAt}, ${blocks}, ${blockedUntil}, ${expiresAt})`
  })
  await sql`
    INSERT INTO guesses (address, guesses, window_ends_at, blocks, blocked_until, expires_at)
    VALUES ${sql.join(rows)}
    ON CONFLICT (address) DO UPDATE SET
      guesses = excluded.guesses, window_ends_at = excluded.window_ends_at,
      blocks = excluded.blocks, blocked_until = excluded.blocked_until,
      expires_at = excluded.expires_at
  `.execute(db)
}

async function forgetExpired({ db, now }: Clocked, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM guesses WHERE address IN (
      SELECT address FROM guesses WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}
    )
  `.execute(db)
  return Number(numAffectedRows)
}
