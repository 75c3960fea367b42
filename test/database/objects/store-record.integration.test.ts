import { describe, inject } from 'vitest'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { storeRecordContract } from '../../core/objects/store-record-contract.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  storeRecordContract('PostgreSQL', async () => {
    const own = await createMigratedDatabase()
    const [database, twin] = [await openPostgres(own), await openPostgres(own)]
    return {
      database,
      twin,
      async close() {
        await Promise.all([database.close(), twin.close()])
        await own.drop()
      },
    }
  })
})
