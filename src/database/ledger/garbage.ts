import { sql } from 'kysely'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { delayStart } from '../clock/safe-now.ts'
import { insertion } from './insert-rows.ts'
import { bigint } from './ledger-sql.ts'
import { garbageBytes } from './counted-bytes.ts'

export interface DiscardedObject {
  readonly objectKey: ObjectKey
  /** Whose garbage it counts as; nobody's if `null`. */
  readonly userId: UserId | null
  readonly size: number
  readonly garbageDelayMs: number
}

/** Makes objects garbage to which neither a file nor a past version refers any more. */
export const discardObjects = insertion<DiscardedObject>(
  ['objectKey', 'garbageDelayMs', 'userId', 'size'],
  (slot, rule) => sql`
    (${slot('objectKey')}, ${delayStart(rule)} + ${bigint(slot('garbageDelayMs'))}, ${slot('userId')},
     ${garbageBytes(slot('size'))})
  `,
  (rows) => sql`INSERT INTO garbage (object_key, not_before, user_id, bytes) VALUES ${rows}`,
)
