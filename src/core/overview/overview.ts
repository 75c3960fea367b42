import { randomUUID } from 'node:crypto'
import { createLeaderLease, type LeaderLeases } from '../sweep/leader-lease.ts'
import type { Account, Usage } from '../users/account-ledger.ts'
import type { WebhookLedger } from '../webhooks/webhook-ledger.ts'
import {
  type DailyUsage,
  type OverviewLedger,
  type Totals,
  type MeasuredUsers,
  NOTHING,
} from './overview-ledger.ts'
import { setImmediate } from 'node:timers/promises'
import { shareUsed } from '../quota/capacity.ts'
import type { UserId } from '../users/user-id.ts'
import { formatTimestamp } from '../timestamp.ts'
import { accountJson } from '../users/account-json.ts'

export interface Overview {
  /** When the reading of the figures began: milliseconds since 1970 by the database's clock. */
  readonly takenAt: number
  readonly totals: Totals
  /** At most 10, with the most bytes used first. */
  readonly largest: readonly Account[]
  /** At most 10, with the largest share of the capacity used first. */
  readonly fullest: readonly Account[]
  /** `undefined` unless webhooks are configured. */
  readonly webhooks: { readonly parked: number; readonly waiting: number } | undefined
  /** The last 30 days, oldest first; those on which the service did not run are missing. */
  readonly growth: readonly DailyUsage[]
}

export type OverviewReader = ReturnType<typeof createOverview>

export interface OverviewOptions {
  readonly ledger: OverviewLedger & LeaderLeases & Pick<WebhookLedger, 'measureWebhooks'>
  readonly hasWebhooks: boolean
  /** How long a crashed instance keeps the others from recording a day. */
  readonly leaseMs: number
  /** For tests; `USERS_PER_PAGE` by default. */
  readonly usersPerPage?: number | undefined
  readonly clock?: (() => number) | undefined
}

export function createOverview(options: OverviewOptions) {
  const { ledger, hasWebhooks, leaseMs, usersPerPage = USERS_PER_PAGE } = options
  const { clock = () => performance.now() } = options
  let reading: Promise<Overview> | undefined
  let kept: { readonly overview: Overview; readonly until: number } | undefined

  async function measure(): Promise<Overview> {
    const until = clock() + KEPT_MS
    const { pages, ...measured } = await measureUsers(ledger, { limit: usersPerPage, top: TOP })
    const { rows: growth } = await ledger.listDailyUsage(GROWTH_DAYS)
    const { parked } = await ledger.measureWebhooks(MAX_PARKED)
    const waiting = measured.totals.undelivered
    const webhooks = hasWebhooks ? { parked, waiting } : undefined
    const overview = { ...measured, webhooks, growth }
    kept = pages > 1 ? { overview, until } : undefined
    return overview
  }

  /** `undefined` if the current day has a row. */
  async function unrecordedDay(): Promise<number | undefined> {
    const { today, rows } = await ledger.listDailyUsage(1)
    return rows.length === 0 ? today : undefined
  }

  return {
    /**
     * Reads the figures of all users, in pages. With more users than a page has, it returns the same overview for a
     * minute. Concurrent calls share one reading.
     */
    async read(): Promise<Overview> {
      if (kept !== undefined && clock() < kept.until) return kept.overview
      reading ??= measure().finally(() => (reading = undefined))
      return await reading
    },

    /**
     * Guarantees that the current day has a row, which other instances may be recording. Any number of instances may
     * call it at any time. Rejects with the signal's reason.
     */
    async recordDay(signal: AbortSignal): Promise<void> {
      if ((await unrecordedDay()) === undefined) return
      const holder = randomUUID()
      const lease = createLeaderLease({ ledger, name: 'daily_usage', holder, leaseMs })
      if (!(await lease.acquire(signal))) return
      try {
        const day = await unrecordedDay()
        if (day === undefined) return
        const page = { limit: usersPerPage, top: 0, signal }
        const { active, suspended, files, used } = (await measureUsers(ledger, page)).totals
        const usage = { day, users: active + suspended, files, used }
        await ledger.recordDailyUsage({ usage, keptDays: KEPT_DAYS })
      } finally {
        await lease.release()
      }
    },
  }
}

/** On SQLite, a page takes 5 ms of the event loop. */
export const USERS_PER_PAGE = 1_000

const TOP = 10
const GROWTH_DAYS = 30
const KEPT_DAYS = 400
const KEPT_MS = 60_000

/** A user has few. */
export const MAX_PARKED = 10_000

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
    // SQLite answers without an iteration of the event loop.
    await setImmediate()
  }
  return { totals, largest, fullest, takenAt, pages }
}

function sumOf(one: Totals, other: Totals): Totals {
  const names = Object.keys(one) as (keyof Totals)[]
  const sums = names.map((name): [string, number] => [name, one[name] + other[name]])
  return Object.fromEntries(sums) as Record<keyof Totals, number>
}

/** Ties stay in the order of the ids. */
function highest(
  accounts: readonly Account[],
  valueOf: (usage: Usage) => number,
): readonly Account[] {
  const compare = (one: number, other: number): number => (one === other ? 0 : other - one)
  return accounts.toSorted((one, other) => compare(valueOf(one.usage), valueOf(other.usage)))
}

/** An overview under the names of the admin API. */
export function overviewJson(overview: Overview) {
  const { totals } = overview
  const { active, suspended, deleted, files, used, reserved, garbage } = totals
  return {
    taken_at: formatTimestamp(overview.takenAt),
    users: { active, suspended, deleted },
    files,
    used,
    reserved,
    garbage,
    history: { used: totals.history, count: totals.versions },
    webhooks: overview.webhooks ?? null,
    fullest: overview.fullest.map(accountJson),
    largest: overview.largest.map(accountJson),
    growth: overview.growth.map(({ day, ...usage }) => ({ date: dateOf(day), ...usage })),
  }
}

function dateOf(day: number): string {
  return formatTimestamp(day).slice(0, 'YYYY-MM-DD'.length)
}
