import { describe, inject } from 'vitest'
import { uploadContracts } from '../../../core/ledger/contracts.ts'
import { openPostgresHarness } from '../harness.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  uploadContracts('PostgreSQL', (options) => openPostgresHarness(undefined, options), {
    model: 15,
    batch: 15,
  })
})
