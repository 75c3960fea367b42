import { describe, inject } from 'vitest'
import { fileContracts } from '../../../core/ledger/contracts.ts'
import { openPostgresHarness } from '../harness.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  fileContracts('PostgreSQL', (options) => openPostgresHarness(undefined, options), {
    list: 8,
    rollUp: 60,
    dates: 20,
  })
})
