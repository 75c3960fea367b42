import { describe, inject } from 'vitest'
import { ledgerBatchContract } from '../../core/ledger/batch-contract.ts'
import { ledgerDescriptionContract } from '../../core/ledger/description-contract.ts'
import { ledgerGarbageContract } from '../../core/ledger/garbage-contract.ts'
import { ledgerHistoryContract } from '../../core/ledger/history-contract.ts'
import { ledgerIdentityContract } from '../../core/ledger/identity-contract.ts'
import { ledgerContract } from '../../core/ledger/ledger-contract.ts'
import { ledgerModelContract } from '../../core/ledger/model-contract.ts'
import { ledgerNarrowContract } from '../../core/ledger/narrow-contract.ts'
import { ledgerNarrowEndsContract } from '../../core/ledger/narrow-ends-contract.ts'
import { ledgerRaceContract } from '../../core/ledger/race-contract.ts'
import { resumableLedgerContract } from '../../core/ledger/resumable/contract.ts'
import { openSteps } from './harness.ts'

/** What a batch of one statement replaces, and falls back to. The gate has the agreement of the two. */
describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  ledgerContract('PostgreSQL, step by step', openSteps)
  ledgerBatchContract('PostgreSQL, step by step', openSteps, 200)
  ledgerGarbageContract('PostgreSQL, step by step', openSteps)
  ledgerIdentityContract('PostgreSQL, step by step', openSteps)
  ledgerDescriptionContract('PostgreSQL, step by step', openSteps)
  ledgerHistoryContract('PostgreSQL, step by step', openSteps)
  ledgerNarrowContract('PostgreSQL, step by step', openSteps)
  ledgerNarrowEndsContract('PostgreSQL, step by step', openSteps)
  ledgerRaceContract('PostgreSQL, step by step', openSteps)
  ledgerModelContract('PostgreSQL, step by step', openSteps, 100)
  resumableLedgerContract('PostgreSQL, step by step', openSteps, 15)
})
