import type { TokenAction } from '../../shared/model.ts'
import type { Permissions } from '../permissions.ts'

/** What each action on a file or a folder needs, besides the download. */
const NEEDS = {
  share: ['share'],
  rename: ['delete', 'create'],
  move: ['delete', 'create'],
  stay: ['replace'],
  history: ['history'],
  remove: ['delete'],
} as const satisfies Readonly<Record<string, readonly TokenAction[]>>

export type RowAction = keyof typeof NEEDS

const ROW_ACTIONS = Object.keys(NEEDS) as readonly RowAction[]

const OF_FILES: ReadonlySet<RowAction> = new Set(['stay', 'history'])

/** The actions on a file that the token permits. */
export function permittedActions({ may }: Permissions): readonly RowAction[] {
  return ROW_ACTIONS.filter((action) => NEEDS[action].every((needed) => may(needed)))
}

/** The actions on a folder that the token permits. */
export function folderActions(permissions: Permissions): readonly RowAction[] {
  return permittedActions(permissions).filter((action) => !OF_FILES.has(action))
}
