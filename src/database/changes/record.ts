import { type RawBuilder, sql } from 'kysely'
import { type Change, type ChangeEvent, MAX_CHANGES } from '../../core/changes/change.ts'
import { type CapacityState, capacityState } from '../../core/quota/capacity.ts'
import type { Usage } from '../../core/users/account-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { noteExcess } from '../history/trim.ts'
import { type AccountDates, DATE_COLUMNS, nextDate } from '../ledger/dates.ts'
import { bigint, capacityInForce, type LedgerTx, run } from '../ledger/ledger-sql.ts'
import { insertion } from '../ledger/insert-rows.ts'
import { USAGE_COLUMNS } from '../ledger/rows.ts'
import { queueChanges } from './webhook-queue.ts'
import type { ChangeRow } from '../schema.ts'
import type { Slot } from '../statement.ts'

/** The end of an account's changes, as the UPDATE of the `quotas` row that counts new ones returns it. */
export interface FeedEnd extends AccountDates {
  readonly changeCount: number
  readonly changedAt: number
  readonly previouslyChangedAt: number
  readonly state: CapacityState | null
}

/** Of rows that are a `FeedEnd`. */
export const FEED_END_COLUMNS = sql`
  change_count AS "changeCount", changed_at AS "changedAt",
  previously_changed_at AS "previouslyChangedAt", capacity_state AS state, ${DATE_COLUMNS}
`

export interface Counted {
  readonly events: number
  /** The time by the clock. */
  readonly now: number
}

/** The part of an UPDATE of the `quotas` row that counts as many changes, and dates them. */
export function countChanges(slot: Slot<Counted>, stepMs?: RawBuilder<unknown>) {
  const events = bigint(slot('events'))
  const at = nextDate(bigint(slot('now')), stepMs)
  return sql`
    newest_at = ${at},
    change_count = change_count + ${events},
    previously_changed_at = CASE WHEN ${events} > 0 THEN changed_at ELSE previously_changed_at END,
    changed_at = CASE WHEN ${events} > 0 THEN ${at} ELSE changed_at END
  `
}

interface Recorded {
  readonly userId: UserId
  readonly events: readonly ChangeEvent[]
  readonly end: FeedEnd
  readonly now: number
}

/** Records events under the user's lock, after `countChanges` has counted them. */
export async function recordChanges(
  tx: LedgerTx,
  { userId, events, end, now }: Recorded,
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
  await insertChanges(tx, rows)
  if (events.length > 0) await queueChanges(tx, { userId, delivered: before, at: now })
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
  readonly mediaType: ChangeRow['media_type']
  readonly deviceId: ChangeRow['device_id']
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
  mediaType: null,
  deviceId: null,
}

function detailsOf(event: ChangeEvent): Details {
  if (!('file' in event)) return { ...NO_FILE, capacity: event.capacity, used: event.used }
  const { name, version, size, sha256, visibility, mediaType, deviceId } = event.file
  const others = { previousName: event.previousName ?? null, mediaType, deviceId }
  return { ...NO_FIGURES, name, version, size, sha256, visibility, ...others }
}

type Insert = Details &
  Pick<Change, 'type' | 'sequence' | 'at'> & {
    readonly userId: UserId
    readonly previousAt: number
  }

const insertChanges = insertion<Insert>(
  [
    'userId',
    'sequence',
    'type',
    'at',
    'previousAt',
    'name',
    'version',
    'size',
    'sha256',
    'visibility',
    'previousName',
    'mediaType',
    'deviceId',
    'capacity',
    'used',
  ],
  (slot) => sql`
    (${slot('userId')}, ${slot('sequence')}, ${slot('type')}, ${slot('at')}, ${slot('previousAt')},
     ${slot('name')}, ${slot('version')}, ${slot('size')}, ${slot('sha256')}, ${slot('visibility')},
     ${slot('previousName')}, ${slot('mediaType')}, ${slot('deviceId')}, ${slot('capacity')}, ${slot('used')})
  `,
  (rows) => sql`
    INSERT INTO changes (user_id, sequence, type, at, previous_at, name, version, size, sha256,
      visibility, previous_name, media_type, device_id, capacity, used)
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
  readonly now: number
  /** Whether its commit has a date already. */
  readonly isDated?: boolean
}

/** Records the state of the capacity, and a change if it is another one than before. Under the user's lock. */
export async function noteState(
  tx: LedgerTx,
  { userId, known, before, usage, now, isDated = false }: Noted,
): Promise<void> {
  const state = capacityState(usage)
  if (state === known) return
  const { capacity, used } = usage
  const isChange = state !== (known ?? capacityState(before))
  const events: ChangeEvent[] = isChange ? [{ type: `capacity.${state}`, capacity, used }] : []
  const set = { userId, state, events: events.length, now, stepMs: isDated ? 0 : 1 }
  const { rows } = await run(tx, setState, set)
  if (rows[0] !== undefined) await recordChanges(tx, { userId, events, end: rows[0], now })
}

interface SetState extends Counted {
  readonly userId: UserId
  readonly state: CapacityState
  readonly stepMs: number
}

function setState(slot: Slot<SetState>) {
  return sql<FeedEnd>`
    UPDATE quotas SET capacity_state = ${slot('state')}, ${countChanges(slot, bigint(slot('stepMs')))}
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
  await noteState(tx, { userId, known: usage.state, before, usage, now: usage.now })
}

type CapacityRow = Usage &
  Pick<FeedEnd, 'state'> & { readonly hasHistory: number; readonly now: number }

async function capacityOf(
  { db, now }: LedgerTx,
  { userId, capacity }: { readonly userId: UserId; readonly capacity: RawBuilder<number> },
) {
  const { rows } = await sql<CapacityRow>`
    SELECT ${USAGE_COLUMNS}, ${capacity} AS capacity, capacity_state AS state, ${now} AS now,
      CASE WHEN history_bytes > 0 THEN 1 ELSE 0 END AS "hasHistory"
    FROM quotas WHERE user_id = ${userId}
  `.execute(db)
  return rows[0]
}
