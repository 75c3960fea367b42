import { describe, inject } from 'vitest'
import { resumableLedgerContract } from '../../core/ledger/resumable/contract.ts'
import { openByEpoch } from './harness.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  const model = { runs: 15, isClockOurs: false }
  resumableLedgerContract('PostgreSQL', openByEpoch, model)
})
