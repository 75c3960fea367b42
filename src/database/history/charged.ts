import { sql } from 'kysely'
import type { UserId } from '../../core/users/user-id.ts'
import { withOverhead } from '../ledger/counted-bytes.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import { type DroppedRow, versionsToDrop } from './drop.ts'

interface Charged {
  readonly userId: UserId
  readonly limit: number
  readonly credential: string | null
  /** Leaves out what others had stored. */
  readonly onlyStored?: boolean
}

/**
 * Of what is charged to a narrow credential, what it had both stored and ended comes first, then what it had only
 * stored, then what others had stored, each oldest end first.
 */
export async function chargedTo(
  tx: LedgerTx,
  { userId, limit, credential, onlyStored = false }: Charged,
): Promise<readonly DroppedRow[]> {
  const ofRank = onlyStored ? sql`AND ${RANK} < 2` : sql``
  const where = sql`${CREDENTIAL} = ${credential} ${ofRank} AND ${CHARGED}`
  const order = sql`${RANK}, ended_at, version`
  return await versionsToDrop(tx, { userId, limit, where, order })
}

interface Debtor {
  readonly credential: string
  readonly bytes: number
}

/** The credential to which most bytes are charged of the newest versions that make up the excess, and how many. */
export async function findDebtor(
  { db }: LedgerTx,
  { userId, excess }: { readonly userId: UserId; readonly excess: number },
): Promise<Debtor | undefined> {
  for (const limit of NEWEST) {
    const { rows } = await sql<{ readonly credential: string; readonly size: number }>`
      SELECT ${CREDENTIAL} AS credential, size FROM history WHERE user_id = ${userId} AND ${CHARGED}
      ORDER BY ended_at DESC, version DESC LIMIT ${limit}
    `.execute(db)
    const debts = new Map<string, number>()
    let left = excess
    for (const row of rows) {
      if (left <= 0) break
      debts.set(row.credential, (debts.get(row.credential) ?? 0) + withOverhead(row.size))
      left -= withOverhead(row.size)
    }
    if (left > 0 && rows.length === limit && limit !== NEWEST.at(-1)) continue
    const [most] = [...debts].toSorted(([, one], [, other]) => other - one)
    return most && { credential: most[0], bytes: most[1] }
  }
  return undefined
}

/** How many of the newest versions are looked at: mostly few are more than the allowance. */
const NEWEST: readonly number[] = [32, 1_000]

/** The narrow credential to which a version is charged: the one that has ended it or, if the account has, stored it. */
const CREDENTIAL = sql<string>`COALESCE(ended_by, stored_by)`

/** As in the index: 0 for what it has both stored and ended, 1 for what the account has ended, 2 for content of others. */
const RANK = sql`CASE WHEN ended_by IS NULL THEN 1 WHEN ended_by = stored_by THEN 0 ELSE 2 END`

/** The condition of the indexes. */
const CHARGED = sql`${CREDENTIAL} IS NOT NULL AND is_protected = 0`
