import { type RawBuilder, sql } from 'kysely'
import type { FileName } from '../../core/files/file-name.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import type { FoundObject, RebuildPosition } from '../../core/rebuild/journal.ts'
import type { UserId } from '../../core/users/user-id.ts'

export interface RebuildRow {
  readonly user_id: UserId
  readonly name: FileName
  readonly version: Version
  readonly object_key: ObjectKey
  readonly size: number
  readonly began_at: number
}

/** SQL for whether the row `r` of `rebuild_objects` is the newest of its name. */
export const isNewest = sql`NOT EXISTS (
  SELECT 1 FROM rebuild_objects AS newer
  WHERE newer.user_id = r.user_id AND newer.name = r.name AND newer.version > r.version
)`

export function isAfter(position: RebuildPosition | undefined): RawBuilder<unknown> {
  const { userId = '', name = '', version = '' } = position ?? {}
  return sql`(r.user_id, r.name, r.version) > (${userId}, ${name}, ${version})`
}

export function toObject(row: RebuildRow): FoundObject {
  return {
    userId: row.user_id,
    name: row.name,
    version: row.version,
    objectKey: row.object_key,
    size: row.size,
    beganAt: row.began_at,
  }
}
