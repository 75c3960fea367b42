import { setImmediate } from 'node:timers/promises'
import { shareUsed } from '../quota/capacity.ts'
import type { Account, Usage } from '../users/account-ledger.ts'
import type { UserId } from '../users/user-id.ts'
import { type MeasuredUsers, NOTHING, type OverviewLedger, type Totals } from './overview-ledger.ts'

interface Measure {
  /** Users per page. */
  readonly limit: number
  readonly top: number
  readonly signal?: AbortSignal | undefined
}

interface MeasuredAll extends Pick<MeasuredUsers, 'totals' | 'largest' | 'fullest'> {
  /** When the first page was read. */
  readonly takenAt: number
  readonly pages: number
}

/**
 * Measures all users page by page, so that no statement takes long, and other requests run in between. A user who changes
 * meanwhile counts as before or as after the change.
 */
export async function measureUsers(
  ledger: Pick<OverviewLedger, 'measureUsers'>,
  { limit, top, signal }: Measure,
): Promise<MeasuredAll> {
  let totals = NOTHING
  let [takenAt, pages] = [0, 0]
  let largest: readonly Account[] = []
  let fullest: readonly Account[] = []
  for (let after: UserId | undefined, isLast = false; !isLast;) {
    signal?.throwIfAborted()
    const page = await ledger.measureUsers({ after, limit, top })
    totals = sumOf(totals, page.totals)
    largest = highest([...largest, ...page.largest], ({ used }) => used).slice(0, top)
    fullest = highest([...fullest, ...page.fullest], shareUsed).slice(0, top)
    if (pages === 0) takenAt = page.at
    pages += 1
    after = page.last
    isLast = page.last === undefined
    // SQLite answers without a turn of the event loop.
    await setImmediate()
  }
  return { totals, largest, fullest, takenAt, pages }
}

function sumOf(one: Totals, other: Totals): Totals {
  return {
    active: one.active + other.active,
    suspended: one.suspended + other.suspended,
    deleted: one.deleted + other.deleted,
    files: one.files + other.files,
    used: one.used + other.used,
    reserved: one.reserved + other.reserved,
    garbage: one.garbage + other.garbage,
    history: one.history + other.history,
    versions: one.versions + other.versions,
    undelivered: one.undelivered + other.undelivered,
  }
}

/** Ties stay in the order of the ids. */
function highest(
  accounts: readonly Account[],
  valueOf: (usage: Usage) => number,
): readonly Account[] {
  const compare = (one: number, other: number): number => (one === other ? 0 : other - one)
  return accounts.toSorted((one, other) => compare(valueOf(one.usage), valueOf(other.usage)))
}
