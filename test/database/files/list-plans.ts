import { type CompiledQuery, sql } from 'kysely'
import type { ListFiles } from '../../../src/core/files/file-ledger.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import {
  type Audience,
  FILE_ORDERS,
  type FileOrder,
  type ListedFiles,
} from '../../../src/core/files/listing.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
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
const NAME_ORDERS = ['name', '-name'] as const
const SHARED = { owner: '', users: 'shared_', anyone: 'public_' } as const

/** The plans of all kinds of listings, in a table where one user has most files and few of them are shared. */
export async function explainListings(database: Database, explain: string): Promise<ListPlan[]> {
  const name = parseFileName('b5')
  const plans: ListPlan[] = []
  for (const audience of AUDIENCES) {
    for (const order of FILE_ORDERS) {
      for (const prefix of ['', 'b']) {
        for (const after of [undefined, { name, value: 5 }]) {
          const page = { audience, order, after, prefix: parseFileNamePrefix(prefix) }
          const listing = `${audience} by ${order}, prefix "${prefix}", after ${after?.name ?? 'nothing'}`
          const { plan } = await explainListing(database, explain, page)
          plans.push({ listing, index: indexOf(audience, order), plan })
        }
      }
    }
  }
  return plans
}

/** The plans of all listings with a delimiter. */
export async function explainRollUps(database: Database, explain: string): Promise<ListPlan[]> {
  const plans: ListPlan[] = []
  for (const audience of AUDIENCES) {
    for (const order of NAME_ORDERS) {
      const { plan } = await explainListing(database, explain, {
        audience,
        order,
        prefix: parseFileNamePrefix('b'),
        rollUp: { delimiter: '0', prefix: parseFileNamePrefix('b') },
      })
      plans.push({ listing: `${audience} by ${order}`, index: indexOf(audience, order), plan })
    }
  }
  return plans
}

export const COUNTING = 'EXPLAIN (ANALYZE, TIMING OFF)'

/**
 * The rows of `files` that PostgreSQL reads, at most, for a page that finds nothing, or that has expired, or that rolls
 * up names.
 */
export async function mostRowsRead(database: Database, maxScanned: number): Promise<number> {
  const [b, nothing] = [parseFileNamePrefix('b'), parseFileNamePrefix('nothing')]
  const kinds: readonly Kind[] = [
    ...FILE_ORDERS.flatMap((order): Kind[] => [
      { order, prefix: nothing },
      { order, contains: 'nothing' },
      { order, userId: EXPIRED },
      { order, prefix: b, hidesOthers: true },
    ]),
    ...NAME_ORDERS.flatMap((order): Kind[] => [
      { order, rollUp: { delimiter: '0', prefix: b } },
      { order, rollUp: { delimiter: '-', prefix: b }, userId: EXPIRED },
      { order, rollUp: { delimiter: '0', prefix: b }, contains: 'nothing' },
    ]),
  ]
  let most = 0
  for (const audience of AUDIENCES) {
    for (const kind of kinds) {
      const { plan } = await explainListing(database, COUNTING, { audience, ...kind, maxScanned })
      most = Math.max(most, rowsOf(plan))
    }
  }
  return most
}

/** What the listing of a folder finds, and the rows that PostgreSQL reads for it: `x/` has 10,000 files in seven ones. */
export async function openFolder(
  database: Database,
  text: '' | 'x/' | 'x/6/',
  more: Kind = {},
): Promise<Pick<ListedFiles, 'prefixes'> & { readonly rows: number }> {
  const prefix = parseFileNamePrefix(text)
  const kind = { userId: FOLDERS, prefix, limit: 11, rollUp: { delimiter: '/', prefix }, ...more }
  const { plan, found } = await explainListing(database, COUNTING, kind)
  return { prefixes: found?.prefixes ?? [], rows: rowsOf(plan) }
}

type Kind = Partial<ListFiles>

/** A listing that is refused has a plan as well. */
async function explainListing(
  database: Database,
  explain: string,
  page: Kind,
): Promise<{ readonly plan: string; readonly found: ListedFiles | undefined }> {
  const statements: CompiledQuery[] = []
  const ledger = createLedger(recording(database, statements), { baseCapacity: 0 })
  const request: ListFiles = {
    userId: MANY,
    audience: 'owner',
    order: 'name',
    prefix: parseFileNamePrefix(''),
    after: undefined,
    limit: 101,
    maxScanned: 2000,
    ...page,
  }
  const found = await ledger.listFiles(request).catch(() => undefined)
  return { plan: (await explainAll({ database, statements, explain })).join('\n'), found }
}

/** Of all scans of `files`: the rows that they return, and those that their filters remove. */
export function rowsOf(plan: string): number {
  let rows = 0
  let loops: number | undefined
  for (const line of plan.split('\n')) {
    const [isNode, table, returned, times] =
      /(?: on (\w+) .*)?\(actual rows=([\d.]+) loops=(\d+)\)/.exec(line) ?? []
    if (isNode !== undefined) loops = table === 'files' ? Number(times) : undefined
    if (loops === undefined) continue
    const [, removed = 0] = /Rows Removed by \w+(?: \w+)*: (\d+)/.exec(line) ?? []
    rows += loops * (Number(returned ?? 0) + Number(removed))
  }
  return rows
}

const MANY = parseUserId('many')
const EXPIRED = parseUserId('expired')
const FOLDERS = parseUserId('folders')

export async function fillWithFiles(database: Database): Promise<void> {
  const users = createUserStore(database, { baseCapacity: 0 })
  for (const userId of ['few', MANY, 'others', EXPIRED, FOLDERS]) {
    await users.createUser(parseUserId(userId))
    const count = userId === MANY || userId === FOLDERS ? 10_000 : 300
    const name = userId === FOLDERS ? sql`'x/' || (n % 7) || '/' || n` : sql`'b' || n`
    const expiresAt = userId === EXPIRED ? sql`1` : sql`9007199254740991`
    await sql`
      INSERT INTO files (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at,
        updated_at, expires_at)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      SELECT ${userId}, ${name}, ${userId} || n, n, n, 'sha256', 0,
        CASE n % 50 WHEN 0 THEN 'public' WHEN 1 THEN 'users' ELSE 'private' END, n, n, ${expiresAt}
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
