import { join } from 'node:path'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createFolder } from './sqlite/harness.ts'
import { migrateSuite } from './migrate-suite.ts'

migrateSuite('SQLite', async () => {
  const folder = await createFolder()
  const file = join(folder.path, 'test.db')
  return { address: file, open: () => openSqlite({ file }), remove: () => folder.remove() }
})
