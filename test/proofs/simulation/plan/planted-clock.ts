import { sql } from 'kysely'
import type { Ledger } from '../../../../src/database/ledger.ts'
import type { Variant, World } from '../world/world.ts'

/** Statements that destroy by a clock that can be wrong. The checker must find them all. */
export const PLANTED_CLOCK_BUGS: Readonly<Record<string, Variant>> = {
  'ends files by the clock': byClock('listUsersWithExpired', 'expireFiles'),
  'trims the history by the clock': byClock('listUsersToTrim', 'trimHistory'),
  'removes garbage by the clock': byClock('listGarbage'),
  'forgets changes by the clock': byClock('forgetChanges'),
  'evicts by the clock': byClock('commit'),

  'believes each clock at once': {
    sharedLedger: ({ ledger, clock }) => ({
      storeClock: (stored) => ledger.storeClock({ ...stored, safe: clock.now() }),
    }),
  },
}

/** These methods find no safe time, so they go by the clock. */
function byClock(...methods: readonly (keyof Ledger)[]): Variant {
  return {
    sharedLedger: (world) => {
      const entries = methods.map((method) => [
        method,
        (argument: unknown) => withoutSafeTime(world, method, argument),
      ])
      return Object.fromEntries(entries) as Partial<Ledger>
    },
  }
}

async function withoutSafeTime(
  { ledger, database: { kysely } }: World,
  method: keyof Ledger,
  argument: unknown,
): Promise<unknown> {
  const rename = (from: string, to: string) =>
    sql`UPDATE leader_leases SET name = ${to} WHERE name = ${from}`.execute(kysely)
  await rename('safe_clock', 'hidden')
  try {
    return await (ledger[method] as (argument: unknown) => Promise<unknown>)(argument)
  } finally {
    await rename('hidden', 'safe_clock')
  }
}
