import { describe, inject } from 'vitest'
import { openPostgres } from '../../src/database/postgres.ts'
import { createDatabase } from '../support/postgres.ts'
import { migrateSuite } from './migrate-suite.ts'

const postgres = inject('postgres')

describe.skipIf(postgres === undefined)('with a real server', () => {
  migrateSuite('PostgreSQL', async () => {
    const own = await createDatabase(postgres ?? '')
    const open = () => openPostgres({ url: own.url })
    return { address: own.url, open, remove: () => own.drop() }
  })
})
