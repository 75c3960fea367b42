import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createFolder } from './sqlite/harness.ts'
import { migrateSuite } from './migrate-suite.ts'

migrateSuite('SQLite', async () => {
  const folder = await createFolder()
  const file = join(folder.path, 'test.db')
  return {
    address: file,
    schema: {
      sha256: 'b8863ee10122732d2dbaf0c2d50309c5ebe669b263cf3a2e4597715129e9050a',
      read: readSchema,
    },
    open: () => openSqlite({ file }),
    remove: () => folder.remove(),
  }
})

async function readSchema({ kysely }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly sql: string }>`
    SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'kysely_%' ORDER BY name
  `.execute(kysely)
  return rows.map(({ sql: statement }) => statement)
}
