import { type RawBuilder, sql } from 'kysely'
import { type Change, type ChangeEvent, MAX_CHANGES } from '../../core/changes/change.ts'
import { type CapacityState, capacityState } from '../../core/quota/capacity.ts'
import type { Usage } from '../../core/users/account-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { noteExcess } from '../history/trim.ts'
import {
  bigint,
  capacityInForce,
  type Clock,
  type LedgerTx,
  type Rule,
  run,
} from '../ledger/ledger-sql.ts'
import { insertion, insertRows } from '../ledger/insert-rows.ts'
import { USAGE_COLUMNS } from '../ledger/rows.ts'
import { queueChanges } from '../webhooks/queue.ts'
import type { ChangeRow } from '../schema.ts'
import type { Slot } from '../statement.ts'

/** The end of an account's changes, as the UPDATE of the `quotas` row that counts new ones returns it. */
export interface FeedEnd {
  readonly changeCount: number
  readonly changedAt: number
  readonly previouslyChangedAt: number
  readonly state: CapacityState | null
}

/** Of rows that are a `FeedEnd`. */
export const FEED_END_COLUMNS = sql`
  change_count AS "changeCount", changed_at AS "changedAt",
  previously_changed_at AS "previouslyChangedAt", capacity_state AS state
`

/** The part of an UPDATE of the `quotas` row that counts as many changes. */
export function countChanges(slot: Slot<{ readonly events: number }>, { now }: Clock) {
  const events = bigint(slot('events'))
  return sql`
    change_count = change_count + ${events},
    previously_changed_at = CASE WHEN ${events} > 0 THEN changed_at ELSE previously_changed_at END,
    changed_at = CASE WHEN ${events} > 0 THEN ${now} ELSE changed_at END
  `
}

interface Recorded {
  readonly userId: UserId
  readonly events: readonly ChangeEvent[]
  readonly end: FeedEnd
}

/** Records events under the user's lock, after `countChanges` has counted them. */
export async function recordChanges(
  tx: LedgerTx,
  { userId, events, end }: Recorded,
): Promise<void> {
  const { changeCount, changedAt: at, previouslyChangedAt } = end
  const before = changeCount - events.length
  const rows = events.map((event, index) => ({
    ...detailsOf(event),
    userId,
    sequence: before + index + 1,
    type: event.type,
    at,
    previousAt: index === 0 ? previouslyChangedAt : at,
  }))
  await insertRows(tx, rows, CHANGES)
  if (events.length > 0) await queueChanges(tx, { userId, delivered: before, at })
  if (Math.floor(before / TRIM_EVERY) === Math.floor(changeCount / TRIM_EVERY)) return
  // More than come between two calls, so that the number also shrinks.
  const limit = 2 * TRIM_EVERY + events.length
  await run(tx, trimUser, { userId, upTo: changeCount - MAX_CHANGES, limit })
}

/** So that few commits look for changes beyond `MAX_CHANGES`. */
export const TRIM_EVERY = 512

interface Details {
  readonly name: ChangeRow['name']
  readonly version: ChangeRow['version']
  readonly size: number | null
  readonly sha256: string | null
  readonly visibility: ChangeRow['visibility']
  readonly previousName: ChangeRow['previous_name']
  readonly capacity: number | null
  readonly used: number | null
}

const NO_FIGURES = { capacity: null, used: null }

const NO_FILE = {
  name: null,
  version: null,
  size: null,
  sha256: null,
  visibility: null,
  previousName: null,
}

function detailsOf(event: ChangeEvent): Details {
  if (!('file' in event)) return { ...NO_FILE, capacity: event.capacity, used: event.used }
  const { name, version, size, sha256, visibility } = event.file
  const previousName = event.previousName ?? null
  return { ...NO_FIGURES, name, version, size, sha256, visibility, previousName }
}

type Insert = Details &
  Pick<Change, 'type' | 'sequence' | 'at'> & {
    readonly userId: UserId
    readonly previousAt: number
  }

const CHANGES = insertion<Insert>(
  (slot) => sql`
    (${slot('userId')}, ${slot('sequence')}, ${slot('type')}, ${slot('at')}, ${slot('previousAt')},
     ${slot('name')}, ${slot('version')}, ${slot('size')}, ${slot('sha256')}, ${slot('visibility')},
     ${slot('previousName')}, ${slot('capacity')}, ${slot('used')})
  `,
  (rows) => sql`
    INSERT INTO changes (user_id, sequence, type, at, previous_at, name, version, size, sha256,
      visibility, previous_name, capacity, used)
    VALUES ${rows}
  `,
)

interface Trim {
  readonly userId: UserId
  readonly upTo: number
  readonly limit: number
}

function trimUser(slot: Slot<Trim>) {
  return sql`
    DELETE FROM changes WHERE user_id = ${slot('userId')} AND sequence IN (
      SELECT sequence FROM changes
      WHERE user_id = ${slot('userId')} AND sequence <= ${slot('upTo')}
      ORDER BY sequence LIMIT ${bigint(slot('limit'))}
    )
  `
}

interface Noted {
  readonly userId: UserId
  /** As it was last recorded. */
  readonly known: CapacityState | null
  /** What counts as recorded if nothing is. */
  readonly before: Usage
  readonly usage: Usage
}

/** Records the state of the capacity, and a change if it is another one than before. Under the user's lock. */
export async function noteState(
  tx: LedgerTx,
  { userId, known, before, usage }: Noted,
): Promise<void> {
  const state = capacityState(usage)
  if (state === known) return
  const { capacity, used } = usage
  const isChange = state !== (known ?? capacityState(before))
  const events: ChangeEvent[] = isChange ? [{ type: `capacity.${state}`, capacity, used }] : []
  const { rows } = await run(tx, setState, { userId, state, events: events.length })
  if (rows[0] !== undefined) await recordChanges(tx, { userId, events, end: rows[0] })
}

interface SetState {
  readonly userId: UserId
  readonly state: CapacityState
  readonly events: number
}

function setState(slot: Slot<SetState>, rule: Rule) {
  return sql<FeedEnd>`
    UPDATE quotas SET capacity_state = ${slot('state')}, ${countChanges(slot, rule)}
    WHERE user_id = ${slot('userId')} RETURNING ${FEED_END_COLUMNS}
  `
}

/** Runs a change of the user's grants under the user's lock, and records what it makes of the capacity. */
export async function changingCapacity<T>(
  tx: LedgerTx,
  { userId, change }: { readonly userId: UserId; readonly change: () => Promise<T> },
): Promise<T> {
  const before = await capacityOf(tx, { userId, capacity: tx.capacity })
  const result = await change()
  await noteSince(tx, { userId, before })
  return result
}

/** As `GrantPeriodLedger.noteCapacity`, under the user's lock. */
export async function noteCapacity(
  tx: LedgerTx,
  { userId, since }: { readonly userId: UserId; readonly since: RawBuilder<number> },
): Promise<void> {
  const capacity = capacityInForce(since, tx.baseCapacity)
  await noteSince(tx, { userId, before: await capacityOf(tx, { userId, capacity }) })
}

async function noteSince(
  tx: LedgerTx,
  { userId, before }: { readonly userId: UserId; readonly before: Usage | undefined },
): Promise<void> {
  const usage = await capacityOf(tx, { userId, capacity: tx.capacity })
  if (before === undefined || usage === undefined) return
  if (usage.hasHistory === 1) await noteExcess(tx, userId)
  await noteState(tx, { userId, known: usage.state, before, usage })
}

async function capacityOf(
  { db }: LedgerTx,
  { userId, capacity }: { readonly userId: UserId; readonly capacity: RawBuilder<number> },
) {
  const { rows } = await sql<Usage & Pick<FeedEnd, 'state'> & { readonly hasHistory: number }>`
    SELECT ${USAGE_COLUMNS}, ${capacity} AS capacity, capacity_state AS state,
      CASE WHEN history_bytes > 0 THEN 1 ELSE 0 END AS "hasHistory"
    FROM quotas WHERE user_id = ${userId}
  `.execute(db)
  return rows[0]
}
