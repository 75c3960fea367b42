import { sql } from 'kysely'
import type { UserId } from '../../core/users/user-id.ts'
import { type Clocked, type LedgerTx, run } from '../ledger/ledger-sql.ts'
import type { Slot } from '../statement.ts'

interface Queued {
  readonly userId: UserId
  /** The sequence before the first change to be delivered. */
  readonly delivered: number
  readonly at: number
}

/** Queues changes under the user's lock. Does nothing if the user is queued already. */
export async function queueChanges(tx: LedgerTx, queued: Queued): Promise<void> {
  if (tx.queuesWebhooks) await run(tx, insertQueue, queued)
}

function insertQueue(slot: Slot<Queued>) {
  return sql`
    INSERT INTO webhook_queues (user_id, delivered, waiting_since, due_at)
    VALUES (${slot('userId')}, ${slot('delivered')}, ${slot('at')}, ${slot('at')})
    ON CONFLICT (user_id) DO NOTHING
  `
}

/** After the last row of a user is deleted. Changes that were not delivered are gone with the user's rows. */
export async function queuePurge(
  { db, now, queuesWebhooks }: Clocked & Pick<LedgerTx, 'queuesWebhooks'>,
  userId: UserId,
): Promise<void> {
  if (queuesWebhooks) {
    await sql`
      INSERT INTO webhook_queues (user_id, delivered, purged_at, waiting_since, due_at)
      SELECT ${userId}, 0, instant, instant, instant FROM (SELECT ${now} AS instant) AS moment
      WHERE true
      ON CONFLICT (user_id) DO UPDATE
      SET delivered = 0, purged_at = excluded.purged_at, waiting_since = excluded.waiting_since,
          due_at = excluded.due_at, attempts = 0, failing_since = NULL
    `.execute(db)
  } else {
    await sql`DELETE FROM webhook_queues WHERE user_id = ${userId}`.execute(db)
  }
  await sql`DELETE FROM parked_webhooks WHERE user_id = ${userId}`.execute(db)
}
