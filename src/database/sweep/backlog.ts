import { type RawBuilder, sql } from 'kysely'
import type { Backlog, BacklogLedger, JournalFigures } from '../../core/sweep/backlog-ledger.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import { isLeaseOver } from './sweep.ts'
import { safeNow } from '../ledger/safe-now.ts'
import type { Operations } from '../operations/operation.ts'

export const BACKLOG_OPERATIONS = {
  measureBacklog: { through: 'readInOrder', run: measureBacklog, effect: 'reads' },
  measureJournal: { through: 'readInOrder', run: measureJournal, effect: 'reads' },
} as const satisfies Operations<BacklogLedger>

async function measureBacklog(
  tx: LedgerTx,
  cap: number,
): ReturnType<BacklogLedger['measureBacklog']> {
  const { now } = tx
  return {
    expiredUploads: await measure(
      tx,
      sql`SELECT lease_until AS due FROM uploads
          WHERE state = 'pending' AND ${isLeaseOver(tx)} ORDER BY lease_until LIMIT ${cap}`,
    ),
    abortedUploads: await measure(
      tx,
      sql`SELECT remove_at AS due FROM uploads
          WHERE state = 'aborted' AND remove_at <= ${now} ORDER BY remove_at, version LIMIT ${cap}`,
    ),
    garbage: await measure(
      tx,
      sql`SELECT not_before AS due FROM garbage
          WHERE not_before <= ${safeNow(tx)} ORDER BY not_before, object_key LIMIT ${cap}`,
    ),
  }
}

/** The `>= 0` conditions match every row, so that each statement reads at most `cap` rows of its index. */
async function measureJournal({ db }: LedgerTx, cap: number): Promise<JournalFigures> {
  const pending = await sql<Omit<JournalFigures, 'garbage'>>`
    SELECT COUNT(*) - COUNT(r.version) AS reservations,
      ${total(sql`CASE WHEN r.version IS NULL THEN reserved_bytes ELSE 0 END`)} AS "reservedBytes",
      COUNT(r.version) AS "unfinishedUploads",
      ${total(sql`announced_bytes`)} AS "unfinishedBytes"
    FROM (SELECT version, reserved_bytes FROM uploads
          WHERE state = 'pending' AND lease_until >= 0 ORDER BY lease_until LIMIT ${cap}) AS figures
    LEFT JOIN resumable_uploads AS r ON r.version = figures.version
  `.execute(db)
  const left = await sql<Pick<JournalFigures, 'garbage'>>`
    SELECT COUNT(*) AS garbage
    FROM (SELECT not_before FROM garbage
          WHERE not_before >= 0 ORDER BY not_before, object_key LIMIT ${cap}) AS figures
  `.execute(db)
  return { ...NOTHING, ...pending.rows[0], ...left.rows[0] }
}

const NOTHING: JournalFigures = {
  reservations: 0,
  reservedBytes: 0,
  unfinishedUploads: 0,
  unfinishedBytes: 0,
  garbage: 0,
}

function total(bytes: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`CAST(COALESCE(SUM(${bytes}), 0) AS BIGINT)`
}

async function measure({ db, now }: LedgerTx, dues: RawBuilder<unknown>): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    SELECT COUNT(*) AS count,
      CAST(COALESCE(${now} - MIN(due), 0) AS BIGINT) AS "oldestMs"
    FROM (${dues}) AS figures
  `.execute(db)
  return rows[0] ?? { count: 0, oldestMs: 0 }
}
