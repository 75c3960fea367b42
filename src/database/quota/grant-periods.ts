import { sql } from 'kysely'
import type {
  GrantPeriod,
  GrantPeriodLedger,
  GrantBoundary,
} from '../../core/quota/grant-period-ledger.ts'
import { bigint, type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import { noteCapacity } from '../changes/record.ts'

export const GRANT_PERIOD_OPERATIONS = {
  readGrantClock: { through: 'query', run: readGrantClock, effect: 'reads' },
  listGrantBoundaries: { through: 'query', run: listGrantBoundaries, effect: 'reads' },
  noteCapacity: { through: 'change', run: noteCapacitySince, effect: 'grows' },
  advanceGrantClock: { through: 'query', run: advanceGrantClock, effect: 'frees' },
} as const satisfies Operations<GrantPeriodLedger>

/** The row's `lease_until` is the time up to which the starts and ends of grants have been noticed. */
const CLOCK = 'grant_clock'

/** Without the row, as after an upgrade. */
const FIRST_PERIOD_MS = 24 * 60 * 60_000

/** A transaction that adds a grant can take this long after it has read the time. */
const OVERLAP_MS = 60_000

/** If the database's clock was ahead, the period begins with its time now. */
async function readGrantClock({ db, now }: LedgerTx): Promise<GrantPeriod> {
  const { rows } = await sql<GrantPeriod>`
    SELECT CASE WHEN noticed < present THEN noticed ELSE present END - ${OVERLAP_MS} AS "from",
      present AS "to"
    FROM (
      SELECT COALESCE(MIN(lease_until), present - ${FIRST_PERIOD_MS}) AS noticed, present
      FROM (SELECT ${now} AS present) AS moment LEFT JOIN leader_leases ON name = ${CLOCK}
      GROUP BY present
    ) AS figures
  `.execute(db)
  if (rows[0] === undefined) throw new TypeError('The clock has no row')
  return rows[0]
}

async function listGrantBoundaries(
  { db }: LedgerTx,
  { kind, after, to, limit }: Parameters<GrantPeriodLedger['listGrantBoundaries']>[0],
): Promise<readonly GrantBoundary[]> {
  const at = kind === 'starts' ? sql`starts_at` : sql`ends_at`
  const { rows } = await sql<GrantBoundary>`
    SELECT ${at} AS at, user_id AS "userId" FROM grants
    WHERE ${at} IS NOT NULL AND ${at} <= ${to} AND (${at}, user_id) > (${after.at}, ${after.userId})
    ORDER BY ${at}, user_id LIMIT ${limit}
  `.execute(db)
  return rows
}

async function noteCapacitySince(
  tx: LedgerTx,
  { userId, since }: Parameters<GrantPeriodLedger['noteCapacity']>[0],
): Promise<void> {
  await lockUser(tx, userId)
  await noteCapacity(tx, { userId, since: bigint(since) })
}

async function advanceGrantClock({ db }: LedgerTx, to: number): Promise<void> {
  await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES (${CLOCK}, '', ${to})
    ON CONFLICT (name) DO UPDATE SET lease_until = excluded.lease_until
  `.execute(db)
}
