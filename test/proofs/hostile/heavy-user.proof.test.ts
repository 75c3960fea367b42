import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { openWorld, type World } from '../crash/world.ts'
import { startMeasured } from './measured-service.ts'
import { createUser } from './run.ts'

const OPERATIONS = 1_000
const CONNECTIONS = 4
const PHASE_MS = 2_500
const ROUNDS = 3
const MOST = 3
/** Of the objects of measured uploads; a difference of less is the machine's. */
const LEAST_MS = 10

/** What the heaviest single user does, in as many connections as the plain uploads that it is compared with. */
const KINDS = {
  'plain uploads': (at) => ({ method: 'PUT', path: `repo/plain-${at % 50}`, body: 'x' }),
  'batches that change': (at) => batch((index) => ({ ...named(index), keep: at % 2 === 0 })),
  'batches that rename': (at) =>
    batch((index) => {
      const [from, to] = at % 2 === 0 ? ['r', 's'] : ['s', 'r']
      return { ...named(index, from), new_name: `${to}${index}`, ignore_missing: true }
    }),
  'batches that find nothing': () =>
    batch((index) => ({ op: 'delete', name: `none-${index}`, ignore_missing: true })),
  'evictions that match nothing': () => evicting('none-'),
  'evictions of files that are kept': () => evicting('cam-'),
  'listings with metadata': () => ({ method: 'GET', path: 'repo?limit=1000' }),
  archives: () => ({ method: 'HEAD', path: 'archive?prefix=' }),
} as const satisfies Readonly<Record<string, (at: number) => Sent>>

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly type?: string
}

function named(index: number, prefix = 'f') {
  return { op: 'update', name: `${prefix}${index}` }
}

function batch(operation: (index: number) => object): Sent {
  const operations = Array.from({ length: OPERATIONS }, (_, index) => operation(index))
  const body = JSON.stringify({ operations })
  return { method: 'POST', path: 'batch', body, type: 'application/json' }
}

function evicting(prefix: string): Sent {
  return { method: 'PUT', path: `repo/new?evict=${prefix}`, body: 'hello' }
}

describe.each([
  { database: 'SQLite', postgres: undefined, isMissing: false },
  { database: 'PostgreSQL', postgres: inject('postgres'), isMissing: !inject('postgres') },
])('beside a user who does what costs most, on $database', ({ postgres, isMissing }) => {
  it.skipIf(isMissing)(
    `an upload takes at most ${MOST} times as long as beside plain uploads`,
    async () => {
      await using opened = new AsyncDisposableStack()
      const world = opened.use(await openWorld({ postgres, s3: undefined, hasWebhooks: false }))
      const victim = await createUser(world, 'victim')
      const heavy = await createUser(world, 'heavy')
      const full = await createFull(world)
      const { port } = await startMeasured(world.environment, opened)
      const ask = async (cookie: string, { method, path, body, type }: Sent): Promise<number> => {
        const headers = { cookie, ...(type !== undefined && { 'content-type': type }) }
        const url = `http://127.0.0.1:${port}/users/me/${path}`
        const response = await fetch(url, { method, headers, body: body ?? null })
        await response.arrayBuffer()
        return response.status
      }
      const metadata = JSON.stringify({ d: 'x'.repeat(2_000) })
      await fill(world, { user: 'heavy', prefix: 'f', metadata })
      await fill(world, { user: 'heavy', prefix: 'r' })
      await ask(victim, { method: 'PUT', path: 'repo/v', body: 'x' })

      const medians = new Map<string, number[]>()
      for (let round = 0; round < ROUNDS; round++) {
        for (const [kind, sent] of Object.entries(KINDS)) {
          const leave = new AbortController()
          const cookie = kind.startsWith('evictions') ? full : heavy
          let sends = round
          const crowd = Array.from({ length: CONNECTIONS }, async () => {
            while (!leave.signal.aborted) await ask(cookie, sent(++sends))
          })
          const times: number[] = []
          for (const end = Date.now() + PHASE_MS; Date.now() < end;) {
            const since = performance.now()
            const upload = { method: 'PUT', path: `repo/v${times.length % 50}`, body: 'hello' }
            expect(await ask(victim, upload)).toBe(200)
            times.push(performance.now() - since)
          }
          leave.abort()
          await Promise.all(crowd)
          times.sort((a, b) => a - b)
          medians.set(kind, [...(medians.get(kind) ?? []), times[times.length >> 1] ?? Infinity])
        }
      }
      const least = (kind: string) => Math.min(...(medians.get(kind) ?? []))
      const plain = Math.max(least('plain uploads'), LEAST_MS)
      const ratios = Object.keys(KINDS).map((kind) => [kind, least(kind) / plain] as const)
      expect(ratios.filter(([, ratio]) => ratio > MOST)).toEqual([])
    },
  )
})

/** A user whose capacity is used up by 15,000 files, of which those with the prefix are kept. */
async function createFull(world: World): Promise<string> {
  const cookie = await createUser(world, 'full')
  const { grants } = world.service
  const userId = parseUserId('full')
  await grants.revokeGrant({ userId, source: 'test', reference: 'room' })
  await fill(world, { user: 'full', prefix: 'doc-', count: 12_000, size: 2_000 })
  await fill(world, { user: 'full', prefix: 'cam-', count: 3_000, size: 2_000, kept: 1 })
  return cookie
}

interface Filled {
  readonly user: string
  readonly prefix: string
  readonly count?: number
  readonly size?: number
  readonly kept?: 0 | 1
  readonly metadata?: string
}

/** As if the files had been uploaded; nobody asks for their content. */
async function fill(
  { database: { kysely } }: World,
  { user, prefix, count = OPERATIONS, size = 1, kept = 0, metadata }: Filled,
): Promise<void> {
  await sql`
    WITH RECURSIVE numbers (n) AS (
      SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < CAST(${count} AS BIGINT)
    )
    INSERT INTO files (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at,
      updated_at, is_kept, metadata)
    SELECT ${user}, ${prefix} || n, ${`${user}${prefix}`} || n, ${`${user}${prefix}`} || n,
      CAST(${size} AS BIGINT), 'x', 0, 'private', n, n, CAST(${kept} AS BIGINT), CAST(${metadata ?? null} AS TEXT)
    FROM numbers
  `.execute(kysely)
  await sql`
    UPDATE quotas SET used_bytes = used_bytes + ${count * size}, file_count = file_count + ${count}
    WHERE user_id = ${user}
  `.execute(kysely)
}
