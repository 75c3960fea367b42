import type { TokenAction } from '../../shared/model.ts'
import type { Permissions } from '../permissions.ts'

/** What each action on a file needs, besides the download. */
const NEEDS = {
  share: ['share'],
  rename: ['delete', 'create'],
  stay: ['replace'],
  history: ['history'],
  remove: ['delete'],
} as const satisfies Readonly<Record<string, readonly TokenAction[]>>

export type RowAction = keyof typeof NEEDS

const ROW_ACTIONS = Object.keys(NEEDS) as readonly RowAction[]

/** The actions on a file that the token permits. */
export function permittedActions({ may }: Permissions): readonly RowAction[] {
  return ROW_ACTIONS.filter((action) => NEEDS[action].every((needed) => may(needed)))
}
