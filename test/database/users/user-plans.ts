import { randomUUID } from 'node:crypto'
import { type CompiledQuery, sql } from 'kysely'
import { parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
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
  for (const order of ['created_at', '-created_at'] as const) {
    for (const after of [undefined, { createdAt: 5, userId: parseUserId('b5') }]) {
      const statements: CompiledQuery[] = []
      const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
      await ledger.listAccounts({ order, after, limit: 101 })
      const plan = (await explainAll({ database, statements, explain })).join('\n')
      const listing = `order "${order}", after ${after?.userId ?? 'nothing'}`
      plans.push({ listing, entry: BY_CREATION, plan })
    }
  }
  return plans
}

/** The plans of the statements of a search for users, from different positions, among many with a device each. */
export async function explainUserSearch(database: Database, explain: string): Promise<string[]> {
  const userId = parseUserId('b55')
  const plans: string[] = []
  for (const after of [undefined, { userId }, { userId, deviceId: 'camera' }]) {
    for (const prefix of ['', 'b']) {
      const statements: CompiledQuery[] = []
      const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
      const which = { prefix: parseUserIdPrefix(prefix), contains: 'b9', after }
      await ledger.searchUsers({ ...which, limit: 100, maxScanned: 1000 })
      const explained = await explainAll({ database, statements, explain })
      plans.push(...explained.filter((plan) => /AS device_id/.test(plan)))
    }
  }
  return plans
}

const BY_CREATION = /users_by_creation[^]*?Cond: |users USING INDEX users_by_creation \(/

/** The plans of the statements that measure some of many users. */
export async function explainOverview(database: Database, explain: string): Promise<string[]> {
  const statements: CompiledQuery[] = []
  const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
  await ledger.measureUsers({ after: parseUserId('a2'), limit: 100, top: 10 })
  return await explainAll({ database, statements, explain })
}

/** The plans of the statements that read several access tokens of a user. */
export async function explainTokens(database: Database, explain: string): Promise<string[]> {
  const statements: CompiledQuery[] = []
  const users = createUserStore(recording(database, statements), { baseCapacity: 0 })
  const userId = parseUserId('b55')
  const tokenId = randomUUID()
  const sha256 = `${tokenId}${tokenId}`
  const after = { createdAt: 5, tokenId }
  await users.listAccessTokens({ userId, page: { after, limit: 101 } })
  await users.addAccessToken({
    userId,
    tokenId,
    sha256,
    label: '',
    expiresInMs: undefined,
    scope: undefined,
    parent: undefined,
  })
  const ofTokens = statements.filter(
    (statement) => /access_tokens/.test(statement.sql) && !/INSERT/.test(statement.sql),
  )
  return await explainAll({ database, statements: ofTokens, explain })
}

/** One user with many tokens, most of which have ended, among others with one each. */
export async function fillWithTokens(database: Database): Promise<void> {
  await sql`
    INSERT INTO access_tokens (sha256, token_id, user_id, label, created_at, revoked_at)
    SELECT id, id, id, '', 1, NULL FROM users
    UNION ALL
    SELECT 'of b55 ' || id, 'of b55 ' || id, 'b55', '', created_at,
      CASE created_at % 20 WHEN 0 THEN NULL ELSE created_at END
    FROM users
  `.execute(database.kysely)
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
    SELECT id, 1, 0, 1 FROM users WHERE created_at > 0 AND created_at <= 10000
  `.execute(database.kysely)
}

/** Each user gets a device, and a grant for another reason. */
export async function fillWithDevices(database: Database): Promise<void> {
  for (const source of ['device', 'promotion']) {
    await sql`
      INSERT INTO grants (user_id, source, reference, bytes, created_at)
      SELECT id, ${source}, 'camera', 1, 1 FROM users
    `.execute(database.kysely)
  }
}
