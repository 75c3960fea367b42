import { coversName, type Scoped } from '../auth/scope.ts'
import type { Change } from './change.ts'

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
