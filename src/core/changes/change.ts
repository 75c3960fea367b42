import type { FileChange } from '../files/file-change.ts'
import type { FileVersion } from '../files/file.ts'
import type { FileName } from '../files/file-name.ts'
import type { CapacityState } from '../quota/capacity.ts'
import { coversName, type Scoped } from '../auth/scope.ts'

const FILE_EVENTS = [
  'file.created',
  'file.replaced',
  'file.updated',
  'file.renamed',
  'file.deleted',
  'file.evicted',
  'file.expired',
  'file.restored',
] as const

const CAPACITY_EVENTS = [
  'capacity.nearing',
  'capacity.critical',
  'capacity.exceeded',
  'capacity.normal',
] as const satisfies readonly `capacity.${CapacityState}`[]

export const CHANGE_EVENTS = [...FILE_EVENTS, ...CAPACITY_EVENTS] as const

/** Of one user. Older ones are deleted, so that a user who changes a file for ever fills no disk. */
export const MAX_CHANGES = 100_000

/** What is told of a file. */
export type ChangedFile = Pick<
  FileVersion,
  'name' | 'version' | 'size' | 'sha256' | 'visibility' | 'mediaType' | 'deviceId'
>

/** What happened in one account. A file that has ended is described as it was, any other one as it is now. */
export type ChangeEvent =
  | {
      readonly type: (typeof FILE_EVENTS)[number]
      readonly file: ChangedFile
      /** Of a renamed file. */
      readonly previousName?: FileName | undefined
    }
  | {
      readonly type: (typeof CAPACITY_EVENTS)[number]
      readonly capacity: number
      readonly used: number
    }

/** Names a change of one account. `sequence` 0, with `at` 0, is before the first one. */
export interface ChangePosition {
  /** 1, 2, 3 ... in commit order, without gaps. */
  readonly sequence: number
  /** Time of the commit, milliseconds since 1970 by the database's clock. A restored database has another one here. */
  readonly at: number
}

export type Change = ChangePosition & ChangeEvent

/** What of a file an update can change, besides its name. */
const TOLD = ['visibility', 'expiresAt', 'isKept', 'mediaType', 'metadata'] as const

/** `undefined` if nothing has changed that is told: a PATCH without a new value. */
export function eventOf({ type, file, old }: FileChange): ChangeEvent | undefined {
  if (file === undefined) return { type: `file.${type}`, file: old }
  if (type !== 'updated') return { type: `file.${type}`, file }
  if (file.name !== old.name) return { type: 'file.renamed', file, previousName: old.name }
  const isChanged = TOLD.some((member) => file[member] !== old[member])
  return isChanged ? { type: 'file.updated', file } : undefined
}

/**
 * The change as a token sees it: a file that is renamed into the token's prefix is a new one, one that is renamed out of
 * it is deleted, and other names are not shown. `undefined` if the token may not see the change.
 */
export function changeWithin(scoped: Scoped, change: Change): Change | undefined {
  if (!('file' in change)) return change
  const { file, previousName = file.name } = change
  const [wasShown, isShown] = [coversName(scoped, previousName), coversName(scoped, file.name)]
  if (wasShown && isShown) return change
  const { sequence, at } = change
  if (isShown) return { sequence, at, type: 'file.created', file }
  const old = { ...file, name: previousName }
  return wasShown ? { sequence, at, type: 'file.deleted', file: old } : undefined
}
