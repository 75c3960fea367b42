import { Refusal } from '../../shared/refusal.ts'
import { faultOf } from '../../shared/file-name.ts'
import { messages } from '../../messages.ts'
import { labelOf, plainName } from '../../shared/folder.ts'
import type { Permissions } from '../permissions.ts'
import { isWithin, type Move } from './move.ts'
import { words } from './words.ts'

/** Throws a `Refusal` for what the page knows by itself not to be possible. */
export function assertPossible(moves: readonly Move[], permissions: NamePermissions): void {
  const names = new Set<string>()
  for (const { entry, to } of moves) {
    assertName(to, permissions)
    if (isWithin(to, [entry])) throw new Refusal(words.intoItself)
    const name = plainName(to)
    if (names.has(name)) throw new Refusal(words.twice(labelOf(to)))
    names.add(name)
  }
}

type NamePermissions = Pick<Permissions, 'within' | 'prefix'>

/** Throws a `Refusal` if the service, or the token, permits no such name. */
export function assertName(name: string, { within, prefix }: NamePermissions): void {
  const fault = faultOf(name)
  if (fault !== undefined) throw new Refusal(messages.uploads.refusals[fault])
  if (within(name) !== name) throw new Refusal(messages.rename.outside(prefix()))
}
