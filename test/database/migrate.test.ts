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
      sha256: '533950f92fe44f540998a8cf3a99bb7dfdb58ed1ff4f28d7893918768672e013',
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
