import { type CompiledQuery, sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { BASE_CAPACITY, openAccount } from '../../core/ledger/fixture.ts'
import {
  DAY_MS,
  part,
  PART_SIZE,
  type Resumables,
  resumablesOf,
  tailPiece,
} from '../../core/ledger/resumable/fixture.ts'
import { explainAll, recording } from '../postgres/hot-reads.ts'

export interface AppendPlans {
  /** Statements of two claims, and of records that add a part, add a tail, and replace that by a part. */
  readonly statements: number
  /** Of those that read or change pieces. */
  readonly plans: readonly string[]
}

/** What an append costs when `parts` are recorded already. */
export async function explainAppend(
  database: Database,
  { parts, explain }: { readonly parts: number; readonly explain: string },
): Promise<AppendPlans> {
  const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
  const account = await openAccount({
    ledger: createLedger(database, { baseCapacity: BASE_CAPACITY }),
    users,
  })
  await account.grant('more', (parts + 10) * PART_SIZE)
  const statements: CompiledQuery[] = []
  const recorded = recording(database, statements)
  const living = (uploadLifetimeMs: number): Resumables =>
    resumablesOf(
      createLedger(recorded, { baseCapacity: BASE_CAPACITY, times: { uploadLifetimeMs } }),
      account,
    )
  const uploads = living(DAY_MS)
  const upload = await uploads.create('a', (parts + 5) * PART_SIZE)
  const { upload: first } = await uploads.hold(upload)
  const pieces = Array.from({ length: parts }, (_, at) => part(at))
  const offset = parts * PART_SIZE
  await uploads.record(first, { offset, replacedFrom: 0, pieces })
  await sql`ANALYZE`.execute(database.kysely)

  statements.length = 0
  const tailKey = uploads.tailKey()
  const { upload: claimed } = await uploads.hold(upload, { offset, tailKey })
  const end = offset + PART_SIZE
  const next = { offset: end, replacedFrom: offset, pieces: [part(parts)] }
  // Each lets the upload live longer, or how many statements it takes would depend on the clock.
  await living(2 * DAY_MS).record(claimed, { ...next, holderMs: 60_000 })
  const tail = [tailPiece(end, { size: 3, key: tailKey })]
  const last = { offset: end + 3, replacedFrom: end, pieces: tail }
  await living(3 * DAY_MS).record(claimed, last)
  const { upload: again } = await uploads.hold(upload, { offset: end + 3 })
  const whole = [{ ...part(parts + 1), firstByte: end }]
  const replacing = { offset: end + PART_SIZE, replacedFrom: end, pieces: whole }
  await living(4 * DAY_MS).record(again, replacing)

  const ofPieces = statements.filter((statement) => /upload_pieces/.test(statement.sql))
  const plans = await explainAll({ database, statements: ofPieces, explain })
  return { statements: statements.length, plans: plans.filter((plan) => !/INSERT/.test(plan)) }
}
