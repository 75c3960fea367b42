import { sql, type RawBuilder } from 'kysely'
import type { ClockLedger, StoredClock } from '../../core/clock/clock-ledger.ts'
import type { LedgerTx, SqlContext } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import type { Session } from '../operations/session.ts'
import { SAFE_CLOCK } from '../ledger/safe-now.ts'
import { HOLDER_MS } from '../../core/resumable/append/append-recorder.ts'
import { RETENTION_MS } from '../../core/sweep/sweep-ledger.ts'

export const CLOCK_OPERATIONS = {
  readClock: { through: 'query', run: readClock, effect: 'reads' },
  // The sweep has to trust its clock before it removes anything.
  storeClock: { through: 'query', run: storeClock, effect: 'frees' },
  pullBack: { bind: pullBack, effect: 'frees' },
} as const satisfies Operations<ClockLedger>

/** Each statement is complete alone, and locks no more rows than it changes. */
function pullBack({ query }: Session): ClockLedger['pullBack'] {
  return async (longest) => {
    for (const statement of PULL_BACK) await query((tx) => statement(tx, longest).execute(tx.db))
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

type Longest = Parameters<ClockLedger['pullBack']>[0]

const isResumable = sql<boolean>`EXISTS (
  SELECT 1 FROM resumable_uploads WHERE resumable_uploads.version = uploads.version
)`

/** See `ClockLedger.pullBack`. Each reads what is due later than now in the order of an index, or a small table. */
const PULL_BACK: readonly ((
  context: Pick<SqlContext, 'now' | 'times'>,
  longest: Longest,
) => RawBuilder<unknown>)[] = [
  ({ now, times }) => sql`
    UPDATE uploads SET lease_until = ${now} + ${times.leaseMs}
    WHERE state = 'pending' AND lease_until > ${now} + ${times.leaseMs} AND NOT ${isResumable}
  `,
  // The end of an upload is as long after its creation as it was.
  ({ now }) => sql`
    UPDATE resumable_uploads
    SET ends_at = ends_at - (created_at - ${now}), created_at = ${now}, updated_at = ${now}
    WHERE created_at > ${now}
  `,
  ({ now }) => sql`
    UPDATE uploads SET lease_until = (
      SELECT ends_at FROM resumable_uploads WHERE resumable_uploads.version = uploads.version
    )
    WHERE state = 'pending' AND lease_until > ${now} AND lease_until > (
      SELECT ends_at FROM resumable_uploads WHERE resumable_uploads.version = uploads.version
    )
  `,
  ({ now }) => sql`
    UPDATE resumable_uploads SET holder_until = ${now} + ${HOLDER_MS}
    WHERE holder IS NOT NULL AND holder_until > ${now} + ${HOLDER_MS}
  `,
  ({ now }) => sql`
    UPDATE uploads SET settled_at = ${now}, remove_at = ${now} WHERE settled_at > ${now}
  `,
  ({ now }) => sql`
    UPDATE uploads SET remove_at = ${now}
    WHERE state = 'aborted' AND remove_at > ${now} + ${RETENTION_MS}
  `,
  // A tail object belongs to nobody while its upload is unfinished, and stays until that has ended.
  ({ now, times }, { unseenMs }) => {
    const longestMs = Math.max(times.garbageDelayMs + unseenMs, RETENTION_MS)
    return sql`
      UPDATE garbage SET not_before = ${now} + ${longestMs}
      WHERE not_before > ${now} + ${longestMs} AND (user_id IS NOT NULL OR object_key NOT IN (
        SELECT object_key FROM upload_pieces WHERE object_key IS NOT NULL
        UNION ALL SELECT tail_key FROM resumable_uploads WHERE tail_key IS NOT NULL
      ))
    `
  },
  ({ now }, { retryMs }) => sql`
    UPDATE webhook_queues
    SET due_at = ${now},
        waiting_since = CASE WHEN waiting_since > ${now} THEN ${now} ELSE waiting_since END,
        failing_since = CASE WHEN failing_since > ${now} THEN ${now} ELSE failing_since END
    WHERE due_at > ${now} AND (attempts = 0 OR due_at > ${now} + ${retryMs})
  `,
]
