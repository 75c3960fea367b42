import { actionJson } from '../../core/audit/audit-trail.ts'
import { MAX_PAGE_LIMIT, cutPage, parsePageLimit } from '../../core/pagination.ts'
import { parseUserId } from '../../core/users/user-id.ts'
import type { Command } from '../command.ts'
import { render, type Row } from '../render.ts'

export const AUDIT: Command = {
  words: ['audit'],
  flags: ['user', 'limit'],
  summary: 'list what operators did, newest first; --user shows what concerns one user',
  run: async ({ auditTrail }, { flags, json, print, printError }) => {
    const userId = flags['user'] === undefined ? undefined : parseUserId(flags['user'])
    const limit = parsePageLimit(flags['limit'])
    const found = await auditTrail.list({ userId, after: undefined, limit: limit + 1 })
    const { page, last } = cutPage(found, limit)
    if (last !== undefined) {
      printError(`There are more actions; --limit takes up to ${MAX_PAGE_LIMIT}.`)
    }
    const actions = page.map(actionJson)
    print(json ? JSON.stringify(actions) : render(actions.map(actionRow)))
    return undefined
  },
}

function actionRow({ at, action, user_id, details, address }: ReturnType<typeof actionJson>): Row {
  const terms = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return { at, action, user_id, address, details: terms.join(' ') }
}
