import { type Kysely, sql } from 'kysely'
import { type ObjectKey, versionOf } from '../../core/objects/object-key.ts'
import type { Tables } from '../schema.ts'

/** Which of some objects the tables name. */
export interface NamedObjects {
  /** Keys, and versions, of files, past versions and uploads. */
  readonly held: ReadonlySet<string>
  readonly garbage: ReadonlySet<string>
}

interface NamedRow {
  readonly holder: 'row' | 'garbage'
  readonly object_key: ObjectKey
  /** Not always that in the key. */
  readonly version: string
}

/**
 * The rule that every removal of an object follows: **an object is removed only if no table names its key, decided in
 * the transaction that decides.** One statement, because a restore moves a version from `history` to `files`, and a
 * second snapshot could miss it in both.
 */
export async function findNamed(
  db: Kysely<Tables>,
  keys: readonly ObjectKey[],
): Promise<NamedObjects> {
  if (keys.length === 0) return { held: new Set(), garbage: new Set() }
  const versions = sql.join(keys.map(versionOf))
  const { rows } = await sql<NamedRow>`
    SELECT 'row' AS holder, object_key, version FROM files WHERE version IN (${versions})
    UNION ALL
    SELECT 'row', object_key, version FROM history WHERE version IN (${versions})
    UNION ALL
    SELECT 'row', object_key, version FROM uploads WHERE version IN (${versions})
    UNION ALL
    SELECT 'garbage', object_key, '' FROM garbage WHERE object_key IN (${sql.join(keys)})
  `.execute(db)
  const [held, garbage] = [new Set<string>(), new Set<string>()]
  for (const { holder, object_key: key, version } of rows) {
    if (holder === 'garbage') garbage.add(key)
    else held.add(key).add(version)
  }
  return { held, garbage }
}
