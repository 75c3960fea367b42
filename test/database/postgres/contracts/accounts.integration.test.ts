import { describe, inject } from 'vitest'
import { ledgerAuditContract } from '../../../core/ledger/audit-contract.ts'
import { ledgerChangesContract } from '../../../core/ledger/changes-contract.ts'
import { ledgerClockContract } from '../../../core/ledger/clock-contract.ts'
import { ledgerOverviewContract } from '../../../core/ledger/overview-contract.ts'
import { ledgerWebhooksContract } from '../../../core/ledger/webhooks-contract.ts'
import { accountsContract } from '../../../core/users/accounts-contract.ts'
import { userStoreContract } from '../../../core/users/user-store-contract.ts'
import { openPostgresHarness } from '../harness.ts'

/** Users and their tokens, and what is told of them. */
describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  userStoreContract('PostgreSQL', () => openPostgresHarness())
  accountsContract('PostgreSQL', () => openPostgresHarness())
  ledgerOverviewContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerAuditContract('PostgreSQL', () => openPostgresHarness())
  ledgerChangesContract('PostgreSQL', () => openPostgresHarness())
  ledgerWebhooksContract('PostgreSQL', () => openPostgresHarness())
  ledgerClockContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
})
