import { type RawBuilder, sql } from 'kysely'
import type { RebuildPosition } from '../../core/rebuild/journal.ts'

/** Of rows that are a `FoundObject`. */
export const OBJECT_COLUMNS = sql`
  user_id AS "userId", name, version, object_key AS "objectKey", size, began_at AS "beganAt"
`

/** SQL for whether the row `r` of `rebuild_objects` is the newest of its name. */
export const isNewest = sql`NOT EXISTS (
  SELECT 1 FROM rebuild_objects AS newer
  WHERE newer.user_id = r.user_id AND newer.name = r.name AND newer.version > r.version
)`

export function isAfter(position: RebuildPosition | undefined): RawBuilder<unknown> {
  const { userId = '', name = '', version = '' } = position ?? {}
  return sql`(r.user_id, r.name, r.version) > (${userId}, ${name}, ${version})`
}
