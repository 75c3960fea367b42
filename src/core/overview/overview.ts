import { randomUUID } from 'node:crypto'
import { createLeaderLease, type LeaderLeases } from '../sweep/leader-lease.ts'
import type { Account } from '../users/account-ledger.ts'
import type { WebhookLedger } from '../webhooks/webhook-ledger.ts'
import { measureUsers } from './measure-users.ts'
import type { DailyUsage, OverviewLedger, Totals } from './overview-ledger.ts'

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

export interface OverviewReader {
  /**
   * Reads the figures of all users, in pages. With more users than a page has, it returns the same overview for a minute.
   * Concurrent calls share one reading.
   */
  read(): Promise<Overview>

  /**
   * Guarantees that the current day has a row, which other instances may be recording. Any number of instances may call
   * it at any time. Rejects with the signal's reason.
   */
  recordDay(signal: AbortSignal): Promise<void>
}

export interface OverviewOptions {
  readonly ledger: OverviewLedger & LeaderLeases & Pick<WebhookLedger, 'measureWebhooks'>
  readonly hasWebhooks: boolean
  /** How long a crashed instance keeps the others from recording a day. */
  readonly leaseMs: number
  /** For tests; `USERS_PER_PAGE` by default. */
  readonly usersPerPage?: number | undefined
  readonly clock?: (() => number) | undefined
}

export function createOverview(options: OverviewOptions): OverviewReader {
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
    async read() {
      if (kept !== undefined && clock() < kept.until) return kept.overview
      reading ??= measure().finally(() => (reading = undefined))
      return await reading
    },

    async recordDay(signal) {
      if ((await unrecordedDay()) === undefined) return
      const holder = randomUUID()
      const lease = createLeaderLease({ ledger, name: 'daily_usage', holder, leaseMs })
      if (!(await lease.acquire({ signal, onWait: undefined }))) return
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
