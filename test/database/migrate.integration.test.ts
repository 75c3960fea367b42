import { sql } from 'kysely'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { migrate, migrations, runMigrations } from '../../src/database/migrate.ts'
import type { Database } from '../../src/database/database.ts'
import { openPostgres } from '../../src/database/postgres/postgres.ts'
import { createDatabase } from '../support/servers/postgres.ts'
import { migrateSuite } from './migrate-suite.ts'

const postgres = inject('postgres')

const INITIAL = '2026-11-21-initial'

/** Less than the migrations of these tests take. */
const REQUEST_TIMEOUT_MS = 1_500

describe.skipIf(postgres === undefined)('with a real server', () => {
  migrateSuite('PostgreSQL', async () => {
    const own = await createDatabase(postgres ?? '')
    const open = () => openPostgres({ url: own.url })
    return { address: own.url, open, remove: () => own.drop() }
  })

  describe('a migration of PostgreSQL beside an instance of the version before', () => {
    let own: Awaited<ReturnType<typeof createDatabase>>
    let opened: Database[]
    beforeEach(async () => {
      own = await createDatabase(postgres ?? '')
      opened = []
    })
    afterEach(async () => {
      await Promise.all(opened.map((database) => database.close()))
      await own.drop()
    })

    async function open(timeoutMs?: number): Promise<Database> {
      const database = await openPostgres({ url: own.url, ...(timeoutMs && { timeoutMs }) })
      opened.push(database)
      return database
    }
    async function openOlder(timeoutMs?: number): Promise<Database> {
      const database = await open(timeoutMs)
      await runMigrations(database, only(database, INITIAL))
      return database
    }
    /** A session that is in a transaction, as an upload's is. */
    async function connect(): Promise<Client & AsyncDisposable> {
      const client = new Client({ connectionString: own.url })
      await client.connect()
      return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
    }

    it('ends, though it takes longer than a request may', async () => {
      const database = await openOlder(REQUEST_TIMEOUT_MS)
      const slow = { ...only(database, INITIAL), '9999-slow': { up: sleep(2) } }
      expect(await runMigrations(database, slow)).toEqual(['9999-slow'])
    })

    it('is waited for by the other instances that start', async () => {
      const [first, second] = [await openOlder(REQUEST_TIMEOUT_MS), await open(REQUEST_TIMEOUT_MS)]
      const slow = { ...only(first, INITIAL), '9999-slow': { up: sleep(2) } }
      const both = await Promise.all([first, second].map((each) => runMigrations(each, slow)))
      expect(both.flat()).toEqual(['9999-slow'])
    })

    it('lets an upload that has begun to write have its locks, and is no deadlock', async () => {
      const database = await openOlder()
      await using upload = await connect()
      await using observer = await connect()
      await upload.query('BEGIN; LOCK TABLE uploads IN ROW EXCLUSIVE MODE')
      const migrating = migrate(database)
      await expect.poll(() => waits(observer), { timeout: 10_000, interval: 5 }).toBe(true)
      await upload.query('LOCK TABLE files IN ROW EXCLUSIVE MODE')
      await upload.query('COMMIT')
      expect(await migrating).toEqual(Object.keys(migrations(database)).slice(1))
    })

    it('makes what a migration of an empty database makes', async () => {
      const database = await openOlder()
      await migrate(database)
      const fresh = await createDatabase(postgres ?? '')
      const other = await openPostgres({ url: fresh.url })
      try {
        await migrate(other)
        expect(await indexesOf(database)).toEqual(await indexesOf(other))
      } finally {
        await other.close()
        await fresh.drop()
      }
    })

    it('builds an index anew that an interrupted one left invalid', async () => {
      const database = await openOlder()
      await using session = await connect()
      await session.query('CREATE INDEX files_listed_by_size ON files (name)')
      await session.query(
        `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'files_listed_by_size'::regclass`,
      )
      await migrate(database)
      const index = (await indexesOf(database)).find(({ name }) => name === 'files_listed_by_size')
      expect(index).toMatchObject({ is_valid: true })
      expect(index?.definition).toContain('(user_id, size, name)')
    })
  })
})

function only(database: Database, name: string) {
  return Object.fromEntries(Object.entries(migrations(database)).filter(([key]) => key === name))
}

function sleep(seconds: number): (db: Database['kysely']) => Promise<void> {
  return async (db) => {
    await sql`SELECT pg_sleep(${seconds})`.execute(db)
  }
}

/** Whether a session of this database waits for a table. */
async function waits(observer: Client): Promise<boolean> {
  const { rowCount } = await observer.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )
  return rowCount !== 0
}

async function indexesOf({ kysely }: Database) {
  const { rows } = await sql<{
    readonly name: string
    readonly definition: string
    readonly is_valid: boolean
  }>`
    SELECT relname AS name, pg_get_indexdef(indexrelid) AS definition, indisvalid AS is_valid
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = 'public'::regnamespace ORDER BY relname
  `.execute(kysely)
  return rows
}
