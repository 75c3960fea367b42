import { join } from 'node:path'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { storeRecordContract } from '../../core/objects/store-record-contract.ts'
import { createMemoryFolder } from '../../support/servers/local-server.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'

storeRecordContract('SQLite', async () => {
  const folder = await createMemoryFolder('store-record')
  const file = join(folder.path, 'test.db')
  const database = await openMigrated({ file })
  const twin = await openSqlite({ file })
  return {
    database,
    twin,
    async close() {
      await Promise.all([database.close(), twin.close()])
      await folder.remove()
    },
  }
})
