import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { ONE_USE } from '../../../src/core/links/link.ts'
import { callerOf } from '../../../src/core/users/caller.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { accountContracts, fileContracts, uploadContracts } from '../../core/ledger/contracts.ts'
import { count, outcomeOf, refusalOf } from '../../core/ledger/fixture.ts'
import { newLink } from '../../core/ledger/new-link.ts'
import { resumableLedgerContract } from '../../core/ledger/resumable/contract.ts'
import { explainHotReads } from '../postgres/hot-reads.ts'
import { explainListings, explainRollUps, fillWithFiles } from '../files/list-plans.ts'
import {
  explainOverview,
  explainTokens,
  explainUserLists,
  explainUserSearch,
  fillWithDevices,
  fillWithTokens,
  fillWithUsers,
} from '../users/user-plans.ts'
import { explainAppend } from '../resumable/append-plans.ts'
import {
  explainChanges,
  explainCharged,
  explainEvictable,
  explainSweeps,
  fillWithLeftovers,
} from '../sweep/sweep-plans.ts'
import { createFolder, openSqliteHarness } from './harness.ts'
import { FILE_COLUMNS, INSERT_FILE, OVERWRITE_FILE } from '../../../src/database/ledger/rows.ts'
import { recordBlockingSyncs } from '../../support/folder.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'
import { readUsage } from '../../support/read-usage.ts'

accountContracts('SQLite', openSqliteHarness)
fileContracts('SQLite', openSqliteHarness, { list: 20, rollUp: 150, dates: 60 })
uploadContracts('SQLite', openSqliteHarness, { model: 100, batch: 30 })
resumableLedgerContract('SQLite', openSqliteHarness, 60)

describe('SQLite', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let file: string
  let database: Database

  beforeAll(async () => {
    folder = await createFolder()
  })
  afterAll(() => folder.remove())
  beforeEach(async () => {
    file = join(folder.path, `${crypto.randomUUID()}.db`)
    database = await openMigrated({ file })
    return () => database.close()
  })

  it.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2],
    ['foreign_keys', 1],
    ['busy_timeout', 0],
  ])('F07 runs with %s = %s', async (name, value) => {
    const { rows } = await sql
      .raw<Record<string, unknown>>(`PRAGMA ${name}`)
      .execute(database.kysely)
    expect(Object.values(rows[0] ?? {})).toEqual([value])
  })

  it('undoes savepoints from memory where that is asked, and sorts on the disk elsewhere', async () => {
    const stores = async (options: { undoInMemory?: boolean }) => {
      const other = await openSqlite({ file: join(folder.path, 'other.db'), ...options })
      onTestFinished(() => other.close())
      const { rows } = await sql<{ temp_store: number }>`PRAGMA temp_store`.execute(other.kysely)
      return rows[0]?.temp_store
    }
    expect(await stores({})).toBe(0)
    expect(await stores({ undoInMemory: true })).toBe(2)
  })

  it('F07 has on disk what it shows, also what a process wrote that was killed before its sync', async () => {
    const synchronised = recordBlockingSyncs(folder.path)
    const killed = join(folder.path, 'killed.db')
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${killed}${end}`)
    const restarted = await openSqlite({ file: killed })
    await restarted.close()
    expect(synchronised).toEqual(['killed.db-wal'])
  })

  it('refuses a database that cannot keep what it promises', async () => {
    expect((await refusalOf(openSqlite({ file: ':memory:' }))).code).toBe('unavailable')
    const missing = join(folder.path, 'no', 'such', 'folder.db')
    expect((await refusalOf(openSqlite({ file: missing }))).code).toBe('unavailable')
  })

  it('F01 waits for a lock that another process gives back, and lets the event loop run', async () => {
    const holder = new DatabaseSync(file)
    holder.exec('BEGIN IMMEDIATE')
    const made = createUserStore(database, { baseCapacity: 0 }).createUser(parseUserId('patient'))
    const before = performance.eventLoopUtilization()
    await setTimeout(200)
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5)
    holder.exec('COMMIT')
    holder.close()
    expect((await made).created).toBe(true)
  })

  it('F01 does next to nothing while many wait for a lock', async () => {
    const users = createUserStore(database, { baseCapacity: 0 })
    const holder = new DatabaseSync(file)
    holder.exec('BEGIN IMMEDIATE')
    const ids = Array.from({ length: 64 }, (_, index) => parseUserId(`user-${index}`))
    const made = Promise.all(ids.map((id) => users.createUser(id)))
    const before = performance.eventLoopUtilization()
    await setTimeout(1_000)
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5)
    holder.exec('COMMIT')
    holder.close()
    expect((await made).every(({ created }) => created)).toBe(true)
  })

  it('F01 gives up on a lock that never comes back, changes nothing, and works again after', async () => {
    const impatient = await openSqlite({ file, lockTimeoutMs: 300 })
    onTestFinished(() => impatient.close())
    const users = createUserStore(impatient, { baseCapacity: 0 })
    const holder = new DatabaseSync(file)
    holder.exec('BEGIN IMMEDIATE')
    const refusal = await refusalOf(users.createUser(parseUserId('late')))
    expect(refusal.code).toBe('unavailable')
    expect(refusal.cause).toMatchObject({ errcode: 5 })
    expect(await users.findUser(parseUserId('late'))).toBeUndefined()
    holder.exec('ROLLBACK')
    holder.close()
    expect((await users.createUser(parseUserId('late'))).created).toBe(true)
  })

  it('F01 repeats transactions that met a lock together, each of them once', async () => {
    const users = createUserStore(database, { baseCapacity: 0 })
    const holder = new DatabaseSync(file)
    holder.exec('BEGIN IMMEDIATE')
    const ids = ['a', 'b', 'c'].map(parseUserId)
    const made = Promise.all(ids.map((id) => users.createUser(id)))
    const refused = outcomeOf(users.setUserStatus(parseUserId('nobody'), 'active'))
    await setTimeout(60)
    holder.exec('COMMIT')
    holder.close()
    expect((await made).map(({ created }) => created)).toEqual([true, true, true])
    expect(await refused).toBe('not_found')
  })

  it('F08 answers unavailable on a full disk and recovers without a restart', async () => {
    const users = createUserStore(database, { baseCapacity: 0 })
    await sql`PRAGMA max_page_count = 1`.execute(database.kysely)
    const ids = Array.from({ length: 2_000 }, (_, index) => parseUserId(`user-${index}`))
    const outcomes = await Promise.all(ids.map((id) => outcomeOf(users.createUser(id))))
    expect(count(outcomes, 'ok') + count(outcomes, 'unavailable')).toBe(ids.length)
    expect(count(outcomes, 'unavailable')).toBeGreaterThan(0)
    await sql`PRAGMA max_page_count = 100000`.execute(database.kysely)
    expect((await users.createUser(parseUserId('after'))).created).toBe(true)
  })

  it('F08 asks for the proof of a write once one has met a full disk, until one succeeds', async () => {
    let probes = 0
    const probe = async (db: Database['kysely']): Promise<void> => {
      probes += 1
      await sql`CREATE TABLE IF NOT EXISTS probe AS SELECT zeroblob(1000000) AS bytes`.execute(db)
    }
    await database.proveWritable(probe)
    expect(probes).toBe(0)
    await sql`PRAGMA max_page_count = 1`.execute(database.kysely)
    const full = { code: 'unavailable', dependency: 'database', isFull: true }
    await expect(database.transaction(probe)).rejects.toMatchObject(full)
    await expect(database.proveWritable(probe)).rejects.toMatchObject(full)
    await sql`PRAGMA max_page_count = 100000`.execute(database.kysely)
    await database.proveWritable(probe)
    expect(probes).toBe(3)
    await database.proveWritable(probe)
    expect(probes).toBe(3)
  })

  it('takes the write lock when a transaction begins, before it reads', async () => {
    const rival = new DatabaseSync(file, { timeout: 0 })
    await database.transaction(async () => {
      expect(() => rival.exec('BEGIN IMMEDIATE')).toThrow(expect.objectContaining({ errcode: 5 }))
    })
    rival.close()
  })

  it('rolls back what failed and hands on what was thrown', async () => {
    const broken = database.transaction(async (db) => {
      await sql`INSERT INTO garbage (object_key, not_before) VALUES ('k', 1)`.execute(db)
      throw new TypeError('a defect')
    })
    await expect(broken).rejects.toThrow(TypeError)
    const { rows } = await sql`SELECT * FROM garbage`.execute(database.kysely)
    expect(rows).toEqual([])
  })

  it('does not call a violated constraint an outage', async () => {
    const insert = database.query((db) =>
      sql`
        INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count)
        VALUES ('nobody', 0, -1, 0)
      `.execute(db),
    )
    await expect(insert).rejects.toMatchObject({ errcode: 275 })
  })

  it('answers unavailable once it is closed', async () => {
    const other = await openSqlite({ file })
    await other.close()
    expect(
      await outcomeOf(createUserStore(other, { baseCapacity: 0 }).findUser(parseUserId('a'))),
    ).toBe('unavailable')
  })

  it('adds numbers as integers, exact beyond 2^53', async () => {
    const { rows } = await sql`SELECT ${MAX_BYTES} + ${2} > ${MAX_BYTES} + ${1} AS exact`.execute(
      database.kysely,
    )
    expect(rows).toEqual([{ exact: 1 }])
  })

  it('clamps a sum of grants that no 64-bit integer holds', async () => {
    const userId = parseUserId('rich')
    await createUserStore(database, { baseCapacity: 0 }).createUser(userId)
    await sql`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1025)
      INSERT INTO grants (user_id, source, reference, bytes, created_at)
      SELECT ${userId}, 'gift', n, ${MAX_BYTES}, 0 FROM numbers
    `.execute(database.kysely)
    const ledger = createLedger(database, { baseCapacity: 1 })
    expect((await readUsage(ledger, userId))?.capacity).toBe(MAX_BYTES)
  })

  it('migrates once, whoever comes first', async () => {
    expect(await migrate(database)).toEqual([])
    const fresh = join(folder.path, 'fresh.db')
    const opened = await Promise.all(Array.from({ length: 3 }, () => openSqlite({ file: fresh })))
    const ran = await Promise.all(opened.map(migrate))
    expect(ran.filter((names) => names.length > 0)).toHaveLength(1)
    await Promise.all(opened.map((each) => each.close()))
  })

  it('D07 takes exactly ten of 40 tenths that four connections in threads begin at once', async () => {
    const users = createUserStore(database, { baseCapacity: 0 })
    await users.createUser(parseUserId('shared'))
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => beginInThread(file)))
    expect(count(outcomes.flat(), 'ok')).toBe(10)
    expect(count(outcomes.flat(), 'capacity_exceeded')).toBe(30)
  })

  it('reads what every request reads through an index', async () => {
    const plans = await explainHotReads(database, 'EXPLAIN QUERY PLAN')
    expect(plans.length).toBeGreaterThan(5)
    for (const plan of plans)
      expect(plan).not.toMatch(
        /SCAN (?!granted|announced|moment|figures|page|uses|CONSTANT|\(|.*USING)/,
      )
  })

  it('writes only the indexes of what an overwrite changes, so not the one of the name', async () => {
    const overwrite = sql`${INSERT_FILE} SELECT ${FILE_COLUMNS} FROM files WHERE TRUE ${OVERWRITE_FILE}`
    const { rows } = await sql<{ opcode: string; p1: number; p2: number }>`
      EXPLAIN ${overwrite}
    `.execute(database.kysely)
    const names = await sql<{ name: string; rootpage: number }>`
      SELECT name, rootpage FROM sqlite_schema WHERE tbl_name = 'files'
    `.execute(database.kysely)
    const nameOf = (cursor: number) => {
      const opened = rows.find(({ opcode, p1 }) => opcode === 'OpenWrite' && p1 === cursor)
      return names.rows.find(({ rootpage }) => rootpage === opened?.p2)?.name
    }
    const rewritten = rows
      .filter(({ opcode }) => opcode === 'IdxDelete')
      .map(({ p1 }) => nameOf(p1))
    // Of the version, and of the name.
    expect(rewritten).toContain('sqlite_autoindex_files_1')
    expect(rewritten).not.toContain('sqlite_autoindex_files_2')
  })

  it('counts downloads by links in few transactions, as it commits the files of their owner', async () => {
    const userId = parseUserId('owner')
    const { user } = await createUserStore(database, { baseCapacity: 0 }).createUser(userId)
    const ledger = createLedger(database, { baseCapacity: 0 })
    const terms = {
      kind: 'download',
      target: { name: parseFileName('film') },
      maxUses: 50,
    } as const
    const link = newLink(callerOf(user), { terms })
    await ledger.addLink(link)
    const { linkId } = link
    const before = commitsIn(`${file}-wal`)
    const uses = Array.from({ length: 60 }, () => ledger.countUses({ userId, linkId }, ONE_USE))
    expect((await Promise.all(uses)).filter((isCounted) => isCounted)).toHaveLength(50)
    expect(commitsIn(`${file}-wal`) - before).toBeLessThanOrEqual(10)
  })

  it('reads each listing from the index of its order, and sorts nothing', async () => {
    await fillWithFiles(database)
    for (const { listing, index, plan } of await explainListings(database, 'EXPLAIN QUERY PLAN')) {
      expect(`${listing}: ${plan}`).toMatch(index)
      expect(`${listing}: ${plan}`).not.toMatch(/TEMP B-TREE|SCAN files/)
      const entry = / by (size|updated_at), /.test(listing)
        ? /AND \((size|updated_at),name\)>/
        : index
      expect(`${listing}: ${plan}`).toMatch(entry)
    }
  })

  it('searches each name of a listing with a delimiter in the index, and sorts no files', async () => {
    await fillWithFiles(database)
    for (const { listing, index, plan } of await explainRollUps(database, 'EXPLAIN QUERY PLAN')) {
      const searches = plan.match(/SEARCH files USING[^"]*/g) ?? []
      expect(searches.length).toBeGreaterThanOrEqual(2)
      for (const search of searches.slice(0, 2)) {
        expect(`${listing}: ${search}`).toMatch(index)
        expect(`${listing}: ${search}`).toMatch(/\(user_id=\? AND name>\? AND name<\?\)/)
      }
      expect(`${listing}: ${plan}`).not.toMatch(/SCAN files/)
    }
  })

  it('reads a page of users from the index of their ids and no more', async () => {
    await fillWithUsers(database)
    for (const { listing, entry, plan } of await explainUserLists(database, 'EXPLAIN QUERY PLAN')) {
      expect(`${listing}: ${plan}`).toMatch(entry)
      expect(`${listing}: ${plan}`).not.toMatch(/SCAN (users|quotas)/)
    }
    await fillWithDevices(database)
    const searches = await explainUserSearch(database, 'EXPLAIN QUERY PLAN')
    for (const plan of searches) {
      expect(plan).toMatch(
        /USING COVERING INDEX (sqlite_autoindex_users_1 \(id>|grants_of_devices \()/,
      )
      expect(plan).not.toMatch(/SCAN|TEMP B-TREE/)
    }
    const [end, ...measured] = await explainOverview(database, 'EXPLAIN QUERY PLAN')
    expect(end).toMatch(/users USING COVERING INDEX sqlite_autoindex_users_1 \(id>\?\)/)
    expect(measured).toHaveLength(3)
    for (const plan of measured) {
      expect(plan).toMatch(/quotas USING INDEX \w+ \(user_id>\? AND user_id<\?\)/)
      expect(plan).not.toMatch(/SCAN (users|grants|webhook_queues)/)
    }
    await fillWithTokens(database)
    const [page, ended] = await explainTokens(database, 'EXPLAIN QUERY PLAN')
    expect(page).toMatch(
      /access_tokens_by_creation \(user_id=\? AND \(created_at,token_id\)>\(\?,\?\)\)/,
    )
    expect(ended).toMatch(/access_tokens_by_end \(user_id=\? AND <expr><\?\)/)
    for (const plan of [page, ended]) expect(plan).not.toMatch(/SCAN access|TEMP B-TREE/)
  })

  it('records an append at the same cost however many parts there are', async () => {
    await fillWithLeftovers(database)
    const [few, many] = [
      await explainAppend(database, { parts: 3, explain: 'EXPLAIN QUERY PLAN' }),
      await explainAppend(database, { parts: 3_000, explain: 'EXPLAIN QUERY PLAN' }),
    ]
    expect(many.statements).toBe(few.statements)
    expect(many.plans.length).toBeGreaterThan(4)
    for (const plan of many.plans) {
      expect(plan).not.toMatch(/SCAN (upload_pieces|tail|garbage|resumable_uploads)/)
      // Of the pieces the tail alone, or those from a byte on.
      expect(plan).not.toMatch(/sqlite_autoindex_upload_pieces_1 \(version=\?\)/)
    }
  })

  it('reads what may be evicted from the indexes of expiry and age, and files by their names', async () => {
    await fillWithLeftovers(database)
    const plan = await explainEvictable(database, 'EXPLAIN QUERY PLAN')
    expect(plan).toMatch(/SEARCH files USING INDEX files_of_user_by_expiry/)
    expect(plan).toMatch(
      /SEARCH files USING COVERING INDEX files_listed_by_updated_at \(user_id=\? AND \(updated_at,name\)>/,
    )
    expect(plan).toMatch(
      /SCAN oldest.*SEARCH files USING INDEX sqlite_autoindex_files_2 \(user_id=\? AND name=\?\)/s,
    )
  })

  it('reads what may be evicted of a device from the indexes of its files', async () => {
    await fillWithLeftovers(database)
    const plan = await explainEvictable(database, 'EXPLAIN QUERY PLAN', 'camera')
    expect(plan).toMatch(
      /SEARCH files USING COVERING INDEX files_of_device_by_updated_at \(user_id=\? AND device_id=\? AND \(updated_at,name\)>/,
    )
    const first = plan.slice(0, plan.indexOf('files_listed_by_updated_at'))
    expect(first).toMatch(
      /files_of_device_by_name \(user_id=\? AND device_id=\? AND name>\? AND name<\?\)/,
    )
  })

  it('reads what is due from the index of its order, and sorts nothing', async () => {
    await fillWithLeftovers(database)
    const plans = await explainSweeps(database, 'EXPLAIN QUERY PLAN')
    for (const { index, plan } of plans) {
      expect(plan).toMatch(index)
      expect(plan).not.toMatch(/TEMP B-TREE|SCAN (uploads|garbage|changes)/)
    }
    const page = /SEARCH changes USING PRIMARY KEY \(user_id=\? AND sequence>\?\)/
    expect(await explainChanges(database, 'EXPLAIN QUERY PLAN')).toMatch(page)
    const charged = await explainCharged(database, 'EXPLAIN QUERY PLAN')
    expect(charged).toMatch(
      /history_charged_by_end \(user_id=\?\)[^]*history_by_charged \(user_id=\? AND <expr>=\?\)/,
    )
    expect(charged).not.toMatch(/TEMP B-TREE/)
  })
})

/** A thread has its own connection and waits like a process. */
async function beginInThread(file: string): Promise<string[]> {
  const worker = new Worker(new URL('begin-worker.ts', import.meta.url), { workerData: file })
  return await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

/** How often the log says that what comes before it is committed, by the format of SQLite's write-ahead log. */
function commitsIn(log: string): number {
  const content = readFileSync(log)
  const frameBytes = 24 + content.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at < content.length; at += frameBytes) {
    if (content.readUInt32BE(at + 4) > 0) commits += 1
  }
  return commits
}
