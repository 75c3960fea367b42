import { describe, inject } from 'vitest'
import { ledgerContract } from '../../core/ledger/ledger-contract.ts'
import { ledgerBatchContract } from '../../core/ledger/batch-contract.ts'
import { ledgerChangesContract } from '../../core/ledger/changes-contract.ts'
import { ledgerWebhooksContract } from '../../core/ledger/webhooks-contract.ts'
import { ledgerDatesContract } from '../../core/ledger/dates-contract.ts'
import { ledgerDescriptionContract } from '../../core/ledger/description-contract.ts'
import { ledgerFilesContract } from '../../core/ledger/files-contract.ts'
import { ledgerFilesRaceContract } from '../../core/ledger/files-race-contract.ts'
import { ledgerGarbageContract } from '../../core/ledger/garbage-contract.ts'
import { ledgerHistoryContract } from '../../core/ledger/history-contract.ts'
import { ledgerNarrowEndsContract } from '../../core/ledger/narrow-ends-contract.ts'
import { ledgerIdentityContract } from '../../core/ledger/identity-contract.ts'
import { ledgerListContract } from '../../core/ledger/list-contract.ts'
import { ledgerAuditContract } from '../../core/ledger/audit-contract.ts'
import { ledgerOverviewContract } from '../../core/ledger/overview-contract.ts'
import { ledgerRollUpContract } from '../../core/ledger/roll-up-contract.ts'
import { ledgerModelContract } from '../../core/ledger/model-contract.ts'
import { ledgerPreconditionContract } from '../../core/ledger/precondition-contract.ts'
import { ledgerRaceContract } from '../../core/ledger/race-contract.ts'
import { ledgerEvictionSearchContract } from '../../core/ledger/eviction-search-contract.ts'
import { ledgerNarrowContract } from '../../core/ledger/narrow-contract.ts'
import { ledgerEvictionContract } from '../../core/ledger/eviction-contract.ts'
import { ledgerRetentionContract } from '../../core/ledger/retention-contract.ts'
import { ledgerClockContract } from '../../core/ledger/clock-contract.ts'
import { ledgerSweepContract } from '../../core/ledger/sweep-contract.ts'
import { userStoreContract } from '../../core/users/user-store-contract.ts'
import { accountsContract } from '../../core/users/accounts-contract.ts'
import { openPostgresHarness, openSteps } from './harness.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  ledgerContract('PostgreSQL', () => openPostgresHarness())
  ledgerFilesContract('PostgreSQL', () => openPostgresHarness())
  ledgerChangesContract('PostgreSQL', () => openPostgresHarness())
  ledgerDatesContract('PostgreSQL', (options) => openPostgresHarness(undefined, options), 20)
  ledgerWebhooksContract('PostgreSQL', () => openPostgresHarness())
  ledgerFilesRaceContract('PostgreSQL', () => openPostgresHarness())
  ledgerGarbageContract('PostgreSQL', () => openPostgresHarness())
  ledgerHistoryContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerHistoryContract('PostgreSQL, step by step', openSteps)
  ledgerNarrowEndsContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerNarrowEndsContract('PostgreSQL, step by step', openSteps)
  ledgerBatchContract('PostgreSQL', (options) => openPostgresHarness(undefined, options), 15)
  ledgerRetentionContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerEvictionContract('PostgreSQL', () => openPostgresHarness())
  ledgerEvictionSearchContract('PostgreSQL', () => openPostgresHarness())
  ledgerNarrowContract('PostgreSQL', () => openPostgresHarness())
  ledgerNarrowContract('PostgreSQL, step by step', openSteps)
  ledgerDescriptionContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerDescriptionContract('PostgreSQL, step by step', openSteps)
  ledgerIdentityContract('PostgreSQL', () => openPostgresHarness())
  ledgerListContract('PostgreSQL', () => openPostgresHarness(), 8)
  ledgerRollUpContract('PostgreSQL', () => openPostgresHarness(), 60)
  ledgerPreconditionContract('PostgreSQL', () => openPostgresHarness())
  ledgerOverviewContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerAuditContract('PostgreSQL', () => openPostgresHarness())
  ledgerSweepContract('PostgreSQL', () => openPostgresHarness())
  ledgerClockContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerRaceContract('PostgreSQL', () => openPostgresHarness())
  ledgerModelContract('PostgreSQL', () => openPostgresHarness(), 15)
  ledgerModelContract('PostgreSQL, step by step', openSteps, 15)
  userStoreContract('PostgreSQL', () => openPostgresHarness())
  accountsContract('PostgreSQL', () => openPostgresHarness())
})
