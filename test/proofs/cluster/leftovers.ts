import { isObjectKey } from '../../../src/core/objects/object-key.ts'
import type { Database } from '../../../src/database/database.ts'

export interface Leftovers {
  readonly database: Database
  /** Keys of objects. */
  readonly stored: readonly string[]
  /** What the store's own servers say of an object. */
  readonly copiesOf?: ((key: string) => Promise<string>) | undefined
}

/**
 * All that is known of those objects that no file refers to, so that a test says it when it fails; empty without any.
 */
export async function describeLeftovers(leftovers: Leftovers): Promise<string> {
  const { database, stored, copiesOf } = leftovers
  const lines: string[] = []
  for (const key of stored.filter(isObjectKey)) {
    const rowsIn = (table: 'files' | 'uploads' | 'garbage') =>
      database.kysely.selectFrom(table).selectAll().where('object_key', '=', key).execute()
    if ((await rowsIn('files')).length > 0) continue
    lines.push(`No file refers to ${key}`)
    lines.push(`uploads: ${JSON.stringify(await rowsIn('uploads'))}`)
    lines.push(`garbage: ${JSON.stringify(await rowsIn('garbage'))}`)
    if (copiesOf !== undefined) lines.push(await copiesOf(key))
  }
  return lines.join('\n')
}
