import { type RawBuilder, sql } from 'kysely'
import type {
  ParkedWebhook,
  WebhookLedger,
  WebhookOutcome,
  WebhookQueue,
} from '../../core/webhooks/webhook-ledger.ts'
import { changesAfter, type ReadRow, toChangesRead } from '../changes/read.ts'
import { type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { safeNow } from '../ledger/safe-now.ts'
import type { Operations } from '../operations/operation.ts'
import type { Session } from '../operations/session.ts'
import { fromRow, type Row } from '../ledger/rows.ts'
import type { UserRow } from '../schema.ts'

export const WEBHOOK_OPERATIONS = {
  listDueWebhooks: { bind: confirmedQueues, effect: 'reads' },
  readUndelivered: { bind: confirmedChanges, effect: 'reads' },
  // Parks at most one event of each user in 24 hours. If it were refused, the event would be sent again and again.
  settleWebhooks: { bind: settleInOrder, effect: 'frees' },
  listParked: { through: 'readInOrder', run: listParked, effect: 'reads' },
  findParked: { through: 'query', run: findParked, effect: 'reads' },
  deleteParked: { through: 'query', run: deleteParked, effect: 'frees' },
  measureWebhooks: { through: 'readInOrder', run: measure, effect: 'reads' },
} as const satisfies Operations<WebhookLedger>

function confirmedQueues({ database, readInOrder }: Session): WebhookLedger['listDueWebhooks'] {
  return async (limit) => {
    const queues = await readInOrder((tx) => listDue(tx, limit))
    if (queues.some(({ purgedAt }) => purgedAt !== undefined)) await database.confirm()
    return queues
  }
}

function confirmedChanges({ database, readInOrder }: Session): WebhookLedger['readUndelivered'] {
  return async (queue, limit) => {
    const read = await readInOrder((tx) => readUndelivered(tx, queue, limit))
    if (read !== undefined && read.changes.length > 0) await database.confirm()
    return read
  }
}

function settleInOrder({ change }: Session): WebhookLedger['settleWebhooks'] {
  return (outcome) => change(outcome.queue.userId, (tx) => settle(tx, outcome))
}

async function listDue({ db, now }: LedgerTx, limit: number): Promise<readonly WebhookQueue[]> {
  const { rows } = await sql<Row<WebhookQueue>>`
    SELECT user_id AS "userId", delivered, purged_at AS "purgedAt", attempts,
      CAST(COALESCE(${safeNow({ now })} - failing_since, 0) AS BIGINT) AS "failingForMs"
    FROM webhook_queues WHERE due_at <= ${now} ORDER BY due_at, user_id LIMIT ${limit}
  `.execute(db)
  return rows.map((row) => fromRow<WebhookQueue>(row))
}

function isAsRead({ userId, delivered, purgedAt }: WebhookQueue) {
  const samePurge = purgedAt === undefined ? sql`purged_at IS NULL` : sql`purged_at = ${purgedAt}`
  return sql<boolean>`
    webhook_queues.user_id = ${userId} AND delivered = ${delivered} AND ${samePurge}
  `
}

async function readUndelivered(
  { db }: LedgerTx,
  queue: WebhookQueue,
  limit: number,
): ReturnType<WebhookLedger['readUndelivered']> {
  const { userId, delivered: after } = queue
  const { rows } = await sql<ReadRow & Pick<UserRow, 'status'>>`
    SELECT change_count, changed_at, status, page.*
    FROM webhook_queues
    JOIN users ON users.id = webhook_queues.user_id
    JOIN quotas ON quotas.user_id = webhook_queues.user_id
    ${changesAfter({ userId, after, limit })}
    WHERE ${isAsRead(queue)}
    ORDER BY page.sequence
  `.execute(db)
  const read = toChangesRead(rows)
  return read && { ...read, isDeleted: rows[0]?.status === 'deleted' }
}

/**
 * Under the user's lock, so that no change is queued in vain: its transaction would find the queue that is deleted here,
 * and add none. A purged user has no lock. If there is a new user with the id by now, the queue stays for another turn.
 */
async function settle(tx: LedgerTx, outcome: WebhookOutcome): Promise<void> {
  const { db, now } = tx
  const { queue, delivered, isPurgeDone, failure, parked } = outcome
  const { userId, purgedAt } = queue
  await lockUser(tx, userId)
  const isFirst = failure?.attempts === 1 || delivered > queue.delivered
  const { numAffectedRows } = await sql`
    UPDATE webhook_queues
    SET delivered = ${delivered},
        purged_at = ${isPurgeDone ? null : sql`purged_at`},
        due_at = ${now} + ${failure?.delayMs ?? 0},
        attempts = ${failure?.attempts ?? 0},
        failing_since = ${failure === undefined ? null : isFirst ? now : sql`failing_since`},
        waiting_since = COALESCE(
          (SELECT at FROM changes WHERE changes.user_id = ${userId} AND sequence > ${delivered}
           ORDER BY sequence LIMIT 1),
          waiting_since
        )
    WHERE ${isAsRead(queue)}
  `.execute(db)
  if (numAffectedRows === 0n) return
  if (parked !== undefined) await park(tx, parked)
  if (failure !== undefined) return
  const ofUser = sql`FROM quotas WHERE quotas.user_id = ${userId}`
  const isDone =
    purgedAt === undefined
      ? sql`delivered >= COALESCE((SELECT change_count ${ofUser}), 0)`
      : sql`NOT EXISTS (SELECT 1 ${ofUser})`
  await sql`
    DELETE FROM webhook_queues
    WHERE user_id = ${userId} AND purged_at IS NULL AND ${isDone}
  `.execute(db)
}

async function park(
  { db, now }: LedgerTx,
  { id, userId, type, at, body, attempts, reason }: NonNullable<WebhookOutcome['parked']>,
): Promise<void> {
  await sql`
    INSERT INTO parked_webhooks
      (webhook_id, user_id, type, at, body, attempts, reason, parked_at)
    VALUES (${id}, ${userId}, ${type}, ${at}, ${body}, ${attempts}, ${reason}, ${now})
    ON CONFLICT (webhook_id) DO NOTHING
  `.execute(db)
}

async function listParked(
  { db }: LedgerTx,
  { after, limit }: Parameters<WebhookLedger['listParked']>[0],
): Promise<readonly ParkedWebhook[]> {
  const { rows } = await sql<ParkedWebhook>`
    SELECT ${PARKED_COLUMNS} FROM parked_webhooks
    WHERE (parked_at, webhook_id) > (${after?.parkedAt ?? -1}, ${after?.id ?? ''})
    ORDER BY parked_at, webhook_id LIMIT ${limit}
  `.execute(db)
  return rows
}

async function findParked({ db }: LedgerTx, id: string): Promise<ParkedWebhook | undefined> {
  const { rows } = await sql<ParkedWebhook>`
    SELECT ${PARKED_COLUMNS} FROM parked_webhooks WHERE webhook_id = ${id}
  `.execute(db)
  return rows[0]
}

async function deleteParked({ db }: LedgerTx, id: string): Promise<ParkedWebhook | undefined> {
  const { rows } = await sql<ParkedWebhook>`
    DELETE FROM parked_webhooks WHERE webhook_id = ${id} RETURNING ${PARKED_COLUMNS}
  `.execute(db)
  return rows[0]
}

const PARKED_COLUMNS = sql`
  webhook_id AS id, user_id AS "userId", type, at, body, attempts, reason, parked_at AS "parkedAt"
`

async function measure(
  { db, now }: LedgerTx,
  cap: number,
): ReturnType<WebhookLedger['measureWebhooks']> {
  const figures: RawBuilder<Awaited<ReturnType<WebhookLedger['measureWebhooks']>>> = sql`
    SELECT (SELECT COUNT(*) FROM (SELECT parked_at FROM parked_webhooks LIMIT ${cap}) AS figures) AS parked,
      CAST(COALESCE(${now} - (SELECT MIN(waiting_since) FROM webhook_queues), 0) AS BIGINT) AS "oldestMs"
  `
  const { rows } = await figures.execute(db)
  return rows[0] ?? { parked: 0, oldestMs: 0 }
}
