import { formatTimestamp } from '../timestamp.ts'
import { accountJson } from '../users/account-json.ts'
import type { Overview } from './overview.ts'

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
