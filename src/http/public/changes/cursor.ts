import type { ChangePosition } from '../../../core/changes/change.ts'
import type { Caller } from '../../../core/users/caller.ts'
import { formatCursor, parseCursor } from '../../routes/pagination.ts'

export function formatChangeCursor(
  { userId, userCreatedAt }: Caller,
  { sequence, at }: ChangePosition,
): string {
  return formatCursor([userId, userCreatedAt, sequence, at])
}

/** Throws `invalid_parameter` for any cursor but one of the user's. That of an earlier user of the id has expired. */
export function parseChangeCursor(cursor: string, caller: Caller): ChangePosition {
  return parseCursor(cursor, ([userId, userCreatedAt, sequence, at, another]) => {
    if (userId !== caller.userId || another !== undefined) return undefined
    if (!isCount(userCreatedAt) || !isCount(sequence) || !isCount(at)) return undefined
    return { sequence, at: userCreatedAt === caller.userCreatedAt ? at : NEVER }
  })
}

/** The time of no change. */
const NEVER = -1

function isCount(value: string | number | undefined): value is number {
  return typeof value === 'number' && value >= 0
}
