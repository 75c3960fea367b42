import { type CompiledQuery, sql } from 'kysely'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { explainAll, recording } from '../postgres/hot-reads.ts'

export interface SweepPlan {
  /** The one index from which the rows are to be read. */
  readonly index: RegExp
  readonly plan: string
}

const USER = parseUserId('swept')
const FUTURE = 2 ** 50

/** The plans of what a sweep lists and a scrape counts, among many rows of which few are due. */
export async function explainSweeps(database: Database, explain: string): Promise<SweepPlan[]> {
  const place = { objectKey: objectKey(USER, createVersion()), version: createVersion() }
  const aborted = { ...place, userId: USER, removeAt: 5, isLast: false }
  const plans: SweepPlan[] = []
  for (const [index, read] of [
    [/uploads_to_remove/, (l) => l.listAbortedUploads(FIRST)],
    [/uploads_to_remove/, (l) => l.listAbortedUploads({ ...FIRST, after: aborted })],
    [/uploads_committed/, (l) => l.forgetUploads({ limit: 100 })],
    [/garbage_in_order/, (l) => l.listGarbage(FIRST)],
    [
      /garbage_in_order/,
      (l) => l.listGarbage({ ...FIRST, after: { ...place, notBefore: 5, userId: USER } }),
    ],
    [
      /changes_pkey[^]*changes_pkey|(changes USING PRIMARY KEY[^]*){3}/,
      (l) => l.forgetChanges({ lifetimeMs: 1, limit: 100 }),
    ],
    [/uploads_by_lease/, (l) => l.listExpiredUploads({ except: [USER], limit: 100 })],
    [/uploads_by_lease[^]*uploads_to_remove[^]*garbage_in_order/, (l) => l.measureBacklog(10_000)],
    [/uploads_by_lease[^]*garbage_in_order/, (l) => l.measureJournal(10_000)],
  ] as const satisfies [RegExp, (ledger: ReturnType<typeof createLedger>) => Promise<unknown>][]) {
    const statements: CompiledQuery[] = []
    await read(createLedger(recording(database, statements), { baseCapacity: 0 }))
    plans.push({ index, plan: (await explainAll({ database, statements, explain })).join('\n') })
  }
  return plans
}

/** The plans by which the versions of narrow credentials are found that are dropped first. */
export async function explainCharged(database: Database, explain: string): Promise<string> {
  const statements: CompiledQuery[] = []
  const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
  await ledger.trimHistory({ userId: USER, limit: 10 })
  const charged = statements.filter((statement) => /COALESCE\(ended_by/.test(statement.sql))
  return (await explainAll({ database, statements: charged, explain })).join('\n')
}

/** The plan of a page of changes, from the middle of those that `fillWithLeftovers` makes. */
export async function explainChanges(database: Database, explain: string): Promise<string> {
  const statements: CompiledQuery[] = []
  const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
  await ledger.readChanges({ userId: USER, userCreatedAt: 1, after: 5_000, limit: 100 })
  return (await explainAll({ database, statements, explain })).join('\n')
}

/** The plan of what an upload that evicts could evict; that of a device, for its share, which is full. */
export async function explainEvictable(
  database: Database,
  explain: string,
  deviceId?: string,
): Promise<string> {
  await sql`
    INSERT INTO grants (user_id, source, reference, bytes, share, created_at)
    VALUES (${USER}, 'device', ${deviceId ?? ''}, 0, '0', 0)
  `.execute(database.kysely)
  const statements: CompiledQuery[] = []
  const limits = { maxFiles: 0, maxUploads: 1 }
  const options = { baseCapacity: 0, limits }
  const ledger = createLedger(recordingRuns(database, statements), options)
  const caller = { userId: USER, userCreatedAt: 1, name: parseFileName('a'), deviceId }
  const evict = parseFileNamePrefix('a')
  await ledger.checkBegin({ ...caller, bytes: 1, evict }).catch(() => undefined)
  const evicting = statements.filter((statement) => /FROM files/.test(statement.sql))
  return (await explainAll({ database, statements: evicting, explain })).join('\n')
}

/** As `recording`, also what is compiled once and run outside of a transaction. */
export function recordingRuns(database: Database, statements: CompiledQuery[]): Database {
  const recorded = recording(database, statements)
  const { kysely } = recorded
  const executeQuery = kysely.executeQuery.bind(kysely)
  kysely.executeQuery = (query) => {
    statements.push('compile' in query ? query.compile() : query)
    return executeQuery(query)
  }
  return { ...recorded, readInOrder: (work) => recorded.query(work) }
}

const FIRST = { after: undefined, limit: 100 } as const

/** Ten thousand rows of each kind that are not due, and a hundred that are. Of the versions, these are of a camera. */
export async function fillWithLeftovers(database: Database): Promise<void> {
  await createUserStore(database, { baseCapacity: 0 }).createUser(USER)
  const due = sql`CASE WHEN n <= 100 THEN n ELSE ${sql.lit(FUTURE)} + n END`
  const numbers = sql`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10100)
  `
  await sql`
    INSERT INTO garbage (object_key, not_before)
    ${numbers} SELECT 'users/swept/' || n, ${due} FROM numbers
  `.execute(database.kysely)
  for (const state of ['pending', 'committed', 'aborted'] as const) {
    const settledAt = state === 'pending' ? sql`CAST(NULL AS BIGINT)` : due
    await sql`
      INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, state, lease_until,
        settled_at, remove_at)
      ${numbers} SELECT ${state} || n, 'swept', 'f' || n, 'users/swept/' || n, 0, ${state}, ${due},
        ${settledAt}, ${due}
      FROM numbers
    `.execute(database.kysely)
  }
  await sql`
    INSERT INTO changes (user_id, sequence, type, at, previous_at)
    ${numbers} SELECT 'swept', n, 'capacity.normal', ${due}, 0 FROM numbers
  `.execute(database.kysely)
  await sql`
    INSERT INTO history (version, user_id, name, object_key, size, sha256, crc32, visibility, created_at, updated_at,
      ended_at, ended_as, stored_by)
    ${numbers} SELECT 'v' || n, 'swept', 'f' || n, 'users/swept/v' || n, 1, '', 0, 'private', 0, 0,
      ${sql.lit(FUTURE)} + n, 'replaced', CASE WHEN n <= 100 THEN 'cam' END
    FROM numbers
  `.execute(database.kysely)
  await sql`UPDATE quotas SET history_bytes = 10100 * 4097, history_count = 10100`.execute(
    database.kysely,
  )
}
