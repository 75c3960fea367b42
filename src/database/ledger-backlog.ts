import { type RawBuilder, sql } from 'kysely'
import type { Ledger } from '../core/ledger.ts'
import type { Backlog } from '../core/sweep-ledger.ts'
import type { Books } from './books.ts'

/** Three statements, each of which reads at most `cap` rows of the index in which its work lies. */
export async function measureBacklog(
  books: Books,
  cap: number,
): ReturnType<Ledger['measureBacklog']> {
  const { now } = books
  return {
    expiredUploads: await measure(
      books,
      sql`SELECT lease_until AS due FROM uploads
          WHERE state = 'pending' AND lease_until <= ${now} ORDER BY lease_until LIMIT ${cap}`,
    ),
    abortedUploads: await measure(
      books,
      sql`SELECT remove_at AS due FROM uploads
          WHERE state = 'aborted' AND remove_at <= ${now} ORDER BY remove_at, version LIMIT ${cap}`,
    ),
    garbage: await measure(
      books,
      sql`SELECT not_before AS due FROM garbage
          WHERE not_before <= ${now} ORDER BY not_before, object_key LIMIT ${cap}`,
    ),
  }
}

/** An upload that an instance of the release before has aborted is due since 0, which says nothing of its age. */
async function measure({ db, now }: Books, dues: RawBuilder<unknown>): Promise<Backlog> {
  const { rows } = await sql<{ readonly count: number; readonly oldest_ms: number }>`
    SELECT COUNT(*) AS count,
      CAST(COALESCE(${now} - MIN(CASE WHEN due > 0 THEN due END), 0) AS BIGINT) AS oldest_ms
    FROM (${dues}) AS figures
  `.execute(db)
  const { count = 0, oldest_ms: oldestMs = 0 } = rows[0] ?? {}
  return { count, oldestMs }
}
