import { sql } from 'kysely'
import type { AbortUpload } from '../../../core/ledger/ledger.ts'
import type { ObjectKey } from '../../../core/objects/object-key.ts'
import type { UserId } from '../../../core/users/user-id.ts'
import type { LedgerTx } from '../ledger-sql.ts'
import { leaveTailKey, leaveTails, leaveTailsOfUser } from './tails.ts'

/** The additional steps of an abort for a resumable upload, under the user's lock. Asks its holder to stop. */
export async function endResumable(
  tx: LedgerTx,
  { userId, version, endedAs }: Pick<AbortUpload, 'userId' | 'version' | 'endedAs'>,
): Promise<void> {
  const { rows } = await sql<{ readonly tail_key: ObjectKey | null }>`
    UPDATE resumable_uploads SET ended_as = ${endedAs ?? null}, stop_asked = 1
    WHERE version = ${version} AND user_id = ${userId}
    RETURNING tail_key
  `.execute(tx.db)
  if (rows[0] === undefined) return
  await leaveTails(tx, { userId, version, from: 0, kept: [] })
  const { tail_key: key } = rows[0]
  if (key !== null) await leaveTailKey(tx, { userId, version, key, bytes: 0 })
}

/** As `endResumable`, for all uploads that the purge of a user has aborted. */
export async function endResumablesOfUser(
  tx: LedgerTx,
  purge: { readonly userId: UserId; readonly garbageDelayMs: number },
): Promise<void> {
  await sql`
    UPDATE resumable_uploads SET ended_as = COALESCE(ended_as, 'cancelled'), stop_asked = 1
    WHERE user_id = ${purge.userId}
  `.execute(tx.db)
  await leaveTailsOfUser(tx, purge)
}
