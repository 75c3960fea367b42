import { type CompiledQuery, sql } from 'kysely'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { type Audience, FILE_ORDERS, type FileOrder } from '../../../src/core/files/listing.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger/ledger.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { explainAll, recording } from '../postgres/hot-reads.ts'

export interface ListPlan {
  /** What is listed, in words. */
  readonly listing: string
  /** The one index from which the page is to be read. */
  readonly index: RegExp
  readonly plan: string
}

const AUDIENCES = ['owner', 'users', 'anyone'] as const satisfies Audience[]
const SHARED = { owner: '', users: 'shared_', anyone: 'public_' } as const

/** The plans of all kinds of listings, in a table where one user has most files and few of them are shared. */
export async function explainListings(database: Database, explain: string): Promise<ListPlan[]> {
  const name = parseFileName('b5')
  const plans: ListPlan[] = []
  for (const audience of AUDIENCES) {
    for (const order of FILE_ORDERS) {
      for (const prefix of ['', 'b']) {
        for (const after of [undefined, { name, value: 5 }]) {
          const page = {
            audience,
            order,
            after,
            prefix: parseFileNamePrefix(prefix),
            limit: 101,
            maxScanned: 2000,
          }
          const listing = `${audience} by ${order}, prefix "${prefix}", after ${after?.name ?? 'nothing'}`
          const statements: CompiledQuery[] = []
          const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
          await ledger.listFiles({ userId: MANY, ...page })
          const plan = (await explainAll({ database, statements, explain })).join('\n')
          plans.push({ listing, index: indexOf(audience, order), plan })
        }
      }
    }
  }
  return plans
}

/** The rows of `files` that PostgreSQL reads, at most, for a page of a prefix that matches nothing. */
export async function mostRowsRead(database: Database, maxScanned: number): Promise<number> {
  let most = 0
  for (const audience of AUDIENCES) {
    for (const order of FILE_ORDERS) {
      const statements: CompiledQuery[] = []
      const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
      const prefix = parseFileNamePrefix('nothing')
      const page = { audience, order, after: undefined, prefix, limit: 101, maxScanned }
      await ledger.listFiles({ userId: MANY, ...page })
      const explain = 'EXPLAIN (ANALYZE, TIMING OFF)'
      const plans = await explainAll({ database, statements, explain })
      for (const plan of plans) most = Math.max(most, rowsOf(plan))
    }
  }
  return most
}

/** Of the scan of `files`: the rows that it returns, and those that its filter removes. */
function rowsOf(plan: string): number {
  const [, returned = 0] = / on files .*?actual rows=(\d+)/s.exec(plan) ?? []
  const [, removed = 0] = /Rows Removed by Filter: (\d+)/.exec(plan) ?? []
  return Number(returned) + Number(removed)
}

const MANY = parseUserId('many')

export async function fillWithFiles(database: Database): Promise<void> {
  const users = createUserStore(database, { baseCapacity: 0 })
  for (const userId of ['few', MANY, 'others']) {
    await users.createUser(parseUserId(userId))
    const count = userId === MANY ? 10_000 : 100
    await sql`
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      SELECT ${userId}, 'b' || n, ${userId} || n, n, n, 'sha256',
        CASE n % 50 WHEN 0 THEN 'public' WHEN 1 THEN 'users' ELSE 'private' END, n, n
      FROM numbers
    `.execute(database.kysely)
  }
}

function indexOf(audience: Audience, order: FileOrder): RegExp {
  const column = order.replace('-', '')
  // The primary key: PostgreSQL's name for it and SQLite's.
  if (audience === 'owner' && column === 'name') return /files_pkey|sqlite_autoindex_files_2/
  const listed = column === 'name' ? '' : 'listed_'
  return new RegExp(`\\bfiles_${listed}${SHARED[audience]}by_${column}\\b`)
}
