import type { overviewJson } from '../../core/overview/overview.ts'
import type { Json } from '../admin.ts'
import { Bytes, render, type Row } from '../render.ts'

type Overview = ReturnType<typeof overviewJson>

/** As the admin API answers it. */
export function overviewText(answer: Json): string {
  const { fullest, largest, growth, ...figures } = answer as unknown as Overview
  const days = growth.map(({ date, users, files, used }) => {
    return { date, users, files, used: new Bytes(used) }
  })
  return [
    render(figuresOf(figures)),
    `fullest users\n${render(fullest.map(accountRow))}`,
    `largest users\n${render(largest.map(accountRow))}`,
    `at the beginning of each day, UTC\n${render(days)}`,
  ].join('\n\n')
}

function figuresOf(answer: Omit<Overview, 'fullest' | 'largest' | 'growth'>): Row {
  const { taken_at, users, files, used, reserved, garbage, history, webhooks } = answer
  return {
    taken_at,
    active_users: users.active,
    suspended_users: users.suspended,
    deleted_users: users.deleted,
    files,
    used: new Bytes(used),
    reserved: new Bytes(reserved),
    garbage: new Bytes(garbage),
    history: new Bytes(history.used),
    past_versions: history.count,
    parked_webhooks: webhooks?.parked ?? null,
    waiting_webhooks: webhooks?.waiting ?? null,
  }
}

function accountRow({ user_id, status, capacity: figures }: Overview['fullest'][number]): Row {
  const { capacity, used, file_count: files } = figures
  const share = capacity > 0 ? `${Math.round((used / capacity) * 100)} %` : null
  return { user_id, status, used: new Bytes(used), capacity: new Bytes(capacity), share, files }
}
