import { describe, inject } from 'vitest'
import { ledgerBatchContract } from '../../../core/ledger/batch-contract.ts'
import { ledgerDescriptionContract } from '../../../core/ledger/description-contract.ts'
import { ledgerEvictionContract } from '../../../core/ledger/eviction-contract.ts'
import { ledgerEvictionSearchContract } from '../../../core/ledger/eviction-search-contract.ts'
import { ledgerGarbageContract } from '../../../core/ledger/garbage-contract.ts'
import { ledgerIdentityContract } from '../../../core/ledger/identity-contract.ts'
import { ledgerContract } from '../../../core/ledger/ledger-contract.ts'
import { ledgerModelContract } from '../../../core/ledger/model-contract.ts'
import { ledgerNarrowContract } from '../../../core/ledger/narrow-contract.ts'
import { ledgerNarrowEndsContract } from '../../../core/ledger/narrow-ends-contract.ts'
import { ledgerPreconditionContract } from '../../../core/ledger/precondition-contract.ts'
import { ledgerRaceContract } from '../../../core/ledger/race-contract.ts'
import { ledgerRetentionContract } from '../../../core/ledger/retention-contract.ts'
import { ledgerSweepContract } from '../../../core/ledger/sweep-contract.ts'
import { openPostgresHarness } from '../harness.ts'

/** What begins, commits and ends uploads, and what makes room for them. */
describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  ledgerContract('PostgreSQL', () => openPostgresHarness())
  ledgerPreconditionContract('PostgreSQL', () => openPostgresHarness())
  ledgerRaceContract('PostgreSQL', () => openPostgresHarness())
  ledgerModelContract('PostgreSQL', () => openPostgresHarness(), 15)
  ledgerBatchContract('PostgreSQL', (options) => openPostgresHarness(undefined, options), 15)
  ledgerRetentionContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerEvictionContract('PostgreSQL', () => openPostgresHarness())
  ledgerEvictionSearchContract('PostgreSQL', () => openPostgresHarness())
  ledgerNarrowContract('PostgreSQL', () => openPostgresHarness())
  ledgerNarrowEndsContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerDescriptionContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerIdentityContract('PostgreSQL', () => openPostgresHarness())
  ledgerGarbageContract('PostgreSQL', () => openPostgresHarness())
  ledgerSweepContract('PostgreSQL', () => openPostgresHarness())
})
