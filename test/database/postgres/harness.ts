import { sql } from 'kysely'
import { inject } from 'vitest'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import type { Database } from '../../../src/database/database.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import type { LedgerHarness } from '../../core/ledger/fixture.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { runSql } from '../../support/run-sql.ts'
import { createHarness } from '../harness.ts'

/** Two pools on one new database, with a clock that stands still until it is moved. */
export async function openPostgresHarness(
  use: (database: Database) => Database = (database) => database,
  ledgerOptions?: Partial<LedgerOptions>,
): Promise<LedgerHarness> {
  const own = await createMigratedDatabase()
  const url = bySocket(own.url)
  let now = Date.now()
  await runSql(own.url, stoppedClock(own.name, now))
  const database = use(await openPostgres({ url }))
  return createHarness({
    database,
    twin: await openPostgres({ url }),
    clock: {
      now: () => now,
      advance: async (ms) => {
        now += ms
        await sql`SELECT setval('stopped_clock', ${now})`.execute(database.kysely)
      },
    },
    cleanUp: () => own.drop(),
    ledgerOptions,
  })
}

/** The same database by the server's socket, if that is on this machine: no contract is about the network. */
function bySocket(url: string): string {
  const folder = inject('postgresSockets')
  return folder === undefined ? url : `${url}?host=${encodeURIComponent(folder)}`
}

/**
 * Has statements find a function of the database where they name the server's clock. It costs no more than that, since
 * PostgreSQL puts what it selects in its place, and all sessions see the value of a sequence at once.
 */
function stoppedClock(database: string, now: number): string {
  return `
    CREATE SEQUENCE stopped_clock START ${now};
    SELECT nextval('stopped_clock');
    CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
      SELECT TIMESTAMPTZ 'epoch' + pg_sequence_last_value('stopped_clock') * INTERVAL '1 ms'
    $$;
    ALTER DATABASE ${database} SET search_path = public, pg_catalog`
}

/** Its uploads go step by step, beside another instance whose uploads go together. */
export function openSteps(ledgerOptions?: Partial<LedgerOptions>): Promise<LedgerHarness> {
  const inSteps = (database: Database) => ({ ...database, runBatch: undefined })
  return openPostgresHarness(inSteps, ledgerOptions)
}

export function serverUrl(): string {
  const server = inject('postgres')
  if (server === undefined) throw new Error('There is no PostgreSQL.')
  return server
}
