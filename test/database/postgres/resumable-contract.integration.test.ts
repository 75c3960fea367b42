import { describe, inject } from 'vitest'
import { resumableLedgerContract } from '../../core/ledger/resumable/contract.ts'
import { openPostgresHarness } from './harness.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  resumableLedgerContract('PostgreSQL', (options) => openPostgresHarness(undefined, options), 15)
})
