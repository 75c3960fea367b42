import { sql } from 'kysely'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { EndedFile } from './changed-rows.ts'
import { excessOf, withOverhead } from './counted-bytes.ts'
import type { LedgerTx } from './ledger-sql.ts'
import { LEAST_GARBAGE_BYTES } from './quota-rule.ts'

/** How long a version stays that a narrow credential has ended and others had stored, whatever is trimmed. */
export const PROTECTION_MS = 24 * 60 * 60_000

export type ProtectedFile = EndedFile & { readonly isProtected: number }

interface Ended {
  readonly userId: UserId
  readonly past: readonly EndedFile[]
}

/**
 * Chooses, under the user's lock, which of the versions to protect, and counts these: those of others that a narrow
 * credential has ended, as far as the protected ones hold no more than the capacity and 64 MiB, or, for what the
 * account itself has stored, twice the capacity and 64 MiB. Narrow credentials that end one another's files can
 * therefore not use up what the account's need.
 */
export async function protect(
  tx: LedgerTx,
  { userId, past }: Ended,
): Promise<readonly ProtectedFile[]> {
  const chosen = await chooseProtected(tx, { userId, past })
  return past.map((file) => Object.assign({ isProtected: chosen.has(file.version) ? 1 : 0 }, file))
}

async function chooseProtected(
  tx: LedgerTx,
  { userId, past }: Ended,
): Promise<ReadonlySet<Version>> {
  const foreign = past.filter(({ storedBy, endedBy }) => endedBy !== null && storedBy !== endedBy)
  if (foreign.length === 0) return new Set()
  const { rows } = await sql<{ readonly held: number; readonly capacity: number }>`
    SELECT history_protected AS held, ${tx.capacity} AS capacity FROM quotas WHERE user_id = ${userId}
  `.execute(tx.db)
  const { held = 0, capacity = 0 } = rows[0] ?? {}
  const chosen = new Set<Version>()
  let added = 0
  for (const { version, size, storedBy } of foreign) {
    const most = (storedBy === null ? 2 : 1) * capacity + LEAST_GARBAGE_BYTES
    const bytes = withOverhead(size)
    if (held + added + bytes > most) continue
    chosen.add(version)
    added += bytes
  }
  await countProtected(tx, { userId, bytes: added })
  return chosen
}

/** Counts versions that begin, or if negative cease, to be protected. Under the user's lock. */
export async function countProtected(
  tx: LedgerTx,
  { userId, bytes }: { readonly userId: UserId; readonly bytes: number },
): Promise<void> {
  if (bytes === 0) return
  const counted = sql`history_protected + ${bytes}`
  await sql`
    UPDATE quotas
    SET history_protected = ${counted},
        history_excess = ${excessOf(tx, { bytes: sql`history_bytes`, protectedBytes: counted })}
    WHERE user_id = ${userId}
  `.execute(tx.db)
}
