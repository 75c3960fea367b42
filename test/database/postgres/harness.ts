import { setTimeout } from 'node:timers/promises'
import { inject } from 'vitest'
import type { Ledger } from '../../../src/database/ledger/ledger.ts'
import type { LedgerOptions } from '../../../src/database/ledger/session.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import type { LedgerHarness } from '../../core/ledger/fixture.ts'
import { createDatabase } from '../../support/servers/postgres.ts'
import { createHarness } from '../harness.ts'

/** Two pools on one new database; the clock is the server's, and only time moves it. */
export async function openPostgresHarness(
  use: (database: Database) => Database = (database) => database,
  ledgerOptions?: Partial<LedgerOptions>,
): Promise<LedgerHarness> {
  const own = await createDatabase(serverUrl())
  const database = use(await openPostgres({ url: own.url }))
  await migrate(database)
  return createHarness({
    database,
    twin: await openPostgres({ url: own.url }),
    clock: { now: Date.now, advance: (ms) => setTimeout(ms) },
    cleanUp: () => own.drop(),
    ledgerOptions,
  })
}

/** Its uploads go step by step, beside another instance whose uploads go together. */
export function openSteps(ledgerOptions?: Partial<LedgerOptions>): Promise<LedgerHarness> {
  const inSteps = (database: Database) => ({ ...database, runBatch: undefined })
  return openPostgresHarness(inSteps, ledgerOptions)
}

/** Claims name the epoch, as those of the service do, or they would all go step by step. */
export async function openByEpoch(): Promise<LedgerHarness> {
  const harness = await openPostgresHarness()
  const byEpoch = (ledger: Ledger): Ledger => ({
    ...ledger,
    async claimAppend(claim) {
      const found = await ledger.findResumable(claim)
      return await ledger.claimAppend({ epoch: found?.epoch, ...claim })
    },
  })
  return { ...harness, ledger: byEpoch(harness.ledger), other: byEpoch(harness.other) }
}

export function serverUrl(): string {
  const server = inject('postgres')
  if (server === undefined) throw new Error('There is no PostgreSQL.')
  return server
}
