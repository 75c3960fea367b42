import { describe, inject } from 'vitest'
import { ledgerDatesContract } from '../../../core/ledger/dates-contract.ts'
import { ledgerFilesContract } from '../../../core/ledger/files-contract.ts'
import { ledgerFilesRaceContract } from '../../../core/ledger/files-race-contract.ts'
import { ledgerHistoryContract } from '../../../core/ledger/history-contract.ts'
import { ledgerListContract } from '../../../core/ledger/list-contract.ts'
import { ledgerRollUpContract } from '../../../core/ledger/roll-up-contract.ts'
import { openPostgresHarness } from '../harness.ts'

/** What changes, lists and remembers files. */
describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  ledgerFilesContract('PostgreSQL', () => openPostgresHarness())
  ledgerFilesRaceContract('PostgreSQL', () => openPostgresHarness())
  ledgerListContract('PostgreSQL', () => openPostgresHarness(), 8)
  ledgerRollUpContract('PostgreSQL', () => openPostgresHarness(), 60)
  ledgerHistoryContract('PostgreSQL', (options) => openPostgresHarness(undefined, options))
  ledgerDatesContract('PostgreSQL', (options) => openPostgresHarness(undefined, options), 20)
})
