import { describe, inject } from 'vitest'
import { accountContracts } from '../../../core/ledger/contracts.ts'
import { openPostgresHarness } from '../harness.ts'

describe.skipIf(inject('postgres') === undefined)('with a server', () => {
  accountContracts('PostgreSQL', (options) => openPostgresHarness(undefined, options))
})
