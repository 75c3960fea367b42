import type { instanceJson } from '../../core/overview/instance.ts'
import type { overviewJson } from '../../core/overview/overview.ts'
import type { Json } from '../admin.ts'
import { Bytes, render, type Row } from '../render.ts'

type Overview = ReturnType<typeof overviewJson> & ReturnType<typeof instanceJson>

/** As the admin API answers it. */
export function overviewText(answer: Json): string {
  const { fullest, largest, growth, settings, ...figures } = answer as unknown as Overview
  const days = growth.map(({ date, users, files, used }) => {
    return { date, users, files, used: new Bytes(used) }
  })
  return [
    render(figuresOf(figures)),
    `fullest users\n${render(fullest.map(accountRow))}`,
    `largest users\n${render(largest.map(accountRow))}`,
    `at the beginning of each day, UTC\n${render(days)}`,
    `settings that are not as by default (--json has all)\n${render(settings.filter(({ set }) => set).map(settingRow))}`,
  ].join('\n\n')
}

function figuresOf(answer: Omit<Overview, 'fullest' | 'largest' | 'growth' | 'settings'>): Row {
  const { taken_at, users, files, used, reserved, garbage, history, webhooks } = answer
  const { version, free_disk, last_backup } = answer
  return {
    version,
    free_for_database: bytesOrNull(free_disk.database),
    free_for_objects: bytesOrNull(free_disk.objects),
    last_backup: last_backup?.at ?? null,
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

function bytesOrNull(bytes: number | null): Bytes | null {
  return bytes === null ? null : new Bytes(bytes)
}

function settingRow({ name, value, secret }: Overview['settings'][number]): Row {
  return { name, value: secret ? '(secret)' : value }
}

function accountRow({ user_id, status, capacity: figures }: Overview['fullest'][number]): Row {
  const { capacity, used, file_count: files } = figures
  const share = capacity > 0 ? `${Math.round((used / capacity) * 100)} %` : null
  return { user_id, status, used: new Bytes(used), capacity: new Bytes(capacity), share, files }
}
