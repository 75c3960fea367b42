import { type Overview, overviewJson } from '../../core/overview/overview.ts'
import { shareUsed } from '../../core/quota/capacity.ts'
import type { Account } from '../../core/users/account-ledger.ts'
import type { Command } from '../command.ts'
import { Bytes, render, type Row } from '../render.ts'

export const OVERVIEW: Command = {
  words: ['overview'],
  summary: 'show the figures of all users, the fullest and largest ones, and the last 30 days',
  run: async ({ overview }, { json, print }) => {
    const read = await overview.read()
    const answer = overviewJson(read)
    print(json ? JSON.stringify(answer) : textOf(answer, read))
    return undefined
  },
}

type Answer = ReturnType<typeof overviewJson>

function textOf(
  answer: Answer,
  { fullest, largest }: Pick<Overview, 'fullest' | 'largest'>,
): string {
  const growth = answer.growth.map((day) => ({ ...day, used: new Bytes(day.used) }))
  return [
    render(figuresOf(answer)),
    `fullest users\n${render(fullest.map(accountRow))}`,
    `largest users\n${render(largest.map(accountRow))}`,
    `at the beginning of each day, UTC\n${render(growth)}`,
  ].join('\n\n')
}

function figuresOf(answer: Answer): Row {
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

function accountRow({ user, usage }: Account): Row {
  const share = shareUsed(usage)
  return {
    user_id: user.userId,
    status: user.status,
    used: new Bytes(usage.used),
    capacity: new Bytes(usage.capacity),
    share: Number.isFinite(share) ? `${Math.round(share * 100)} %` : null,
    files: usage.fileCount,
  }
}
