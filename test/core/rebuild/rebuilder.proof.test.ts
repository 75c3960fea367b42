import { describe, inject } from 'vitest'
import { openTwoOnPostgres } from './production.ts'
import { rebuildSuite } from './suite.ts'

const versitygw = inject('versitygw')
const missing = versitygw === undefined || inject('postgres') === undefined

describe.skipIf(missing)('with real servers', () => {
  rebuildSuite('PostgreSQL and versitygw', () => openTwoOnPostgres(versitygw))
})
