import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { migrations, runMigrations } from '../../src/database/migrate.ts'
import { openPostgres } from '../../src/database/postgres/postgres.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'

// Runs the migrations of the database that it is given and one that stops in its middle, and says so when it is there.
const [, , address = ''] = process.argv
const database = await open(address)
await runMigrations(database, {
  ...migrations(database),
  '9999-12-31-endless': {
    async up(db) {
      await sql`CREATE TABLE half (id integer)`.execute(db)
      console.log('in the middle')
      await new Promise(() => setInterval(() => undefined, 1000))
    },
  },
})

function open(address: string): Promise<Database> {
  return address.startsWith('postgres:')
    ? openPostgres({ url: address })
    : openSqlite({ file: address })
}
