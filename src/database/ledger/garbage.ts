import { type RawBuilder, sql } from 'kysely'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { delayStart } from './safe-now.ts'
import { insertion } from './insert-rows.ts'
import type { SqlContext } from './ledger-sql.ts'
import { garbageBytes } from './counted-bytes.ts'

export interface DiscardedObject {
  readonly objectKey: ObjectKey
  /** Whose garbage it counts as; nobody's if `null`. */
  readonly userId: UserId | null
  readonly size: number
}

/** Makes objects garbage to which neither a file nor a past version refers any more. */
export const discardObjects = discarding(removableAt)

/** As `discardObjects`, for the objects of a deleted user. */
export const discardForDeletedUser = discarding(removableForDeletedUserAt)

function discarding(notBefore: (context: SqlContext) => RawBuilder<number>) {
  return insertion<DiscardedObject>(
    ['objectKey', 'userId', 'size'],
    (slot, context) => sql`
      (${slot('objectKey')}, ${notBefore(context)}, ${slot('userId')}, ${garbageBytes(slot('size'))})
    `,
    (rows) => sql`INSERT INTO garbage (object_key, not_before, user_id, bytes) VALUES ${rows}`,
  )
}

type Timed = Pick<SqlContext, 'now' | 'times'>

/** SQL for when an object may be removed that becomes garbage now. */
export function removableAt(context: Timed): RawBuilder<number> {
  return sql<number>`${delayStart(context)} + ${sql.lit(context.times.garbageDelayMs)}`
}

/** As `removableAt`, for the objects of a deleted user. */
export function removableForDeletedUserAt(context: Timed): RawBuilder<number> {
  return sql<number>`${delayStart(context)} + ${sql.lit(context.times.purgeDelayMs)}`
}
