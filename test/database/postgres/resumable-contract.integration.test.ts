import { describe, inject } from 'vitest'
import { resumableLedgerContract } from '../../core/ledger/resumable/contract.ts'
import { openByEpoch } from './harness.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  resumableLedgerContract('PostgreSQL', openByEpoch, 15)
})
