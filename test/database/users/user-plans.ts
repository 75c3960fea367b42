import { type CompiledQuery, sql } from 'kysely'
import { parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger/ledger.ts'
import { explainAll, recording } from '../postgres/hot-reads.ts'

export interface UserPlan {
  /** What is listed, in words. */
  readonly listing: string
  /** The index from which the users are to be read, and the bounds by which it is entered and left. */
  readonly entry: RegExp
  readonly plan: string
}

/** The plans of all kinds of listings of users, among many. */
export async function explainUserLists(database: Database, explain: string): Promise<UserPlan[]> {
  const plans: UserPlan[] = []
  for (const prefix of ['', 'b', 'b5']) {
    for (const after of [undefined, 'a', 'b55']) {
      const statements: CompiledQuery[] = []
      const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
      await ledger.listAccounts({
        prefix: parseUserIdPrefix(prefix),
        after: after === undefined ? undefined : parseUserId(after),
        limit: 101,
      })
      const plan = (await explainAll({ database, statements, explain })).join('\n')
      const listing = `prefix "${prefix}", after ${after ?? 'nothing'}`
      plans.push({ listing, entry: entryOf(prefix), plan })
    }
  }
  return plans
}

/** The primary key, in the words of PostgreSQL and of SQLite. */
function entryOf(prefix: string): RegExp {
  return prefix === ''
    ? /users_pkey[^]*?Cond: [^\n]*\bid > |users USING INDEX sqlite_autoindex_users_1 \(id>\?\)/
    : /users_pkey[^]*?Cond: [^\n]*\bid >=? .*\bid < |users USING INDEX sqlite_autoindex_users_1 \(id>\? AND id<\?\)/
}

export async function fillWithUsers(database: Database): Promise<void> {
  await sql`
    INSERT INTO users (id, status, created_at)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
    SELECT CASE n % 2 WHEN 0 THEN 'a' ELSE 'b' END || n, 'active', n FROM numbers
  `.execute(database.kysely)
  await sql`
    INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count)
    SELECT id, 0, 0, 0 FROM users WHERE created_at > 0 AND created_at <= 10000
  `.execute(database.kysely)
}
