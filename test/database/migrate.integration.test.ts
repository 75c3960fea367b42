import { sql } from 'kysely'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { migrate, migrations, runMigrations } from '../../src/database/migrate.ts'
import type { Database } from '../../src/database/database.ts'
import {
  createIndex,
  type MigrationIndex,
  type SchemaMigration,
} from '../../src/database/migrations/index-definition.ts'
import { openPostgres } from '../../src/database/postgres/postgres.ts'
import { createDatabase } from '../support/servers/postgres.ts'
import { migrateSuite } from './migrate-suite.ts'

const SCHEMA = 'bd9b2cc2a314855bfa4f6212f790f26917fef0dce5107e0438150a84ac675e93'

const postgres = inject('postgres')

/** Less than the migrations of these tests take. */
const REQUEST_TIMEOUT_MS = 1_500

describe.skipIf(postgres === undefined)('with a real server', () => {
  migrateSuite('PostgreSQL', async () => {
    const own = await createDatabase(postgres ?? '')
    const open = () => openPostgres({ url: own.url })
    const schema = { sha256: SCHEMA, read: readSchema }
    return { address: own.url, schema, open, remove: () => own.drop() }
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
      await migrate(database)
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
      const slow = { ...migrations(database), '9999-slow': { up: sleep(2) } }
      expect(await runMigrations(database, slow)).toEqual(['9999-slow'])
    })

    it('is waited for by the other instances that start', async () => {
      const [first, second] = [await openOlder(REQUEST_TIMEOUT_MS), await open(REQUEST_TIMEOUT_MS)]
      const slow = { ...migrations(first), '9999-slow': { up: sleep(2) } }
      const both = await Promise.all([first, second].map((each) => runMigrations(each, slow)))
      expect(both.flat()).toEqual(['9999-slow'])
    })

    it('lets an upload that has begun to write have its locks, and is no deadlock', async () => {
      const database = await openOlder()
      await using upload = await connect()
      await using observer = await connect()
      await upload.query('BEGIN; LOCK TABLE uploads IN ROW EXCLUSIVE MODE')
      const migrating = runMigrations(database, later(database))
      await expect.poll(() => waits(observer), { timeout: 10_000, interval: 5 }).toBe(true)
      await upload.query('LOCK TABLE files IN ROW EXCLUSIVE MODE')
      await upload.query('COMMIT')
      expect(await migrating).toEqual(['9999-1-column', '9999-2-index'])
    })

    it('makes what a migration of an empty database makes', async () => {
      const database = await openOlder()
      await runMigrations(database, later(database))
      const fresh = await createDatabase(postgres ?? '')
      const other = await openPostgres({ url: fresh.url })
      try {
        await runMigrations(other, later(other))
        expect(await indexesOf(database)).toEqual(await indexesOf(other))
      } finally {
        await other.close()
        await fresh.drop()
      }
    })

    it('builds an index anew that an interrupted one left invalid', async () => {
      const database = await openOlder()
      await using session = await connect()
      await session.query('CREATE INDEX files_by_digest ON files (name)')
      await session.query(
        `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'files_by_digest'::regclass`,
      )
      await runMigrations(database, later(database))
      const index = (await indexesOf(database)).find(({ name }) => name === 'files_by_digest')
      expect(index).toMatchObject({ is_valid: true })
      expect(index?.definition).toContain('(sha256)')
    })
  })
})

/** What a later version has: an index on an existing column, a column, and then an index on that. */
function later(database: Database): Readonly<Record<string, SchemaMigration>> {
  const index = (name: string, column: string): readonly MigrationIndex[] => [
    { name, table: 'files', definition: sql`(${sql.ref(column)})` },
  ]
  const create =
    (indexes: readonly MigrationIndex[]): SchemaMigration['up'] =>
    async (db) => {
      for (const each of indexes) await createIndex(each).execute(db)
    }
  const [digests, tags] = [index('files_by_digest', 'sha256'), index('files_by_tag', 'tag')]
  return {
    ...migrations(database),
    '9999-1-column': {
      indexes: digests,
      async up(db) {
        await create(digests)(db)
        await sql`ALTER TABLE files ADD COLUMN tag text`.execute(db)
      },
    },
    '9999-2-index': { indexes: tags, up: create(tags) },
  }
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

/** Columns, constraints, indexes and triggers, as every version of PostgreSQL spells them. */
async function readSchema({ kysely }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly line: string }>`
    SELECT line FROM (
      SELECT concat_ws(' ', table_name, column_name, data_type, collation_name, is_nullable, column_default) AS line
      FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'p', 'u')
      UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
      UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    ) AS lines WHERE line NOT LIKE '%kysely_%' ORDER BY line COLLATE "C"
  `.execute(kysely)
  return rows.map(({ line }) => line)
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
