import { type RawBuilder, sql } from 'kysely'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/**
 * Adds a condition to the indexes by size and by time. It holds for every file, but only a listing states it, so no
 * other statement can use these indexes. Where most users have few files, PostgreSQL took them to cost as little as the
 * primary key, and found a file by reading all files of its user.
 *
 * It drops the indexes that the previous release uses. During a rolling restart, old instances list files by size and
 * by time more slowly, but correctly.
 */
export function listIndexes(): SchemaMigration {
  return {
    indexes: INDEXES,
    async up(db) {
      for (const index of INDEXES) await createIndex(index).execute(db)
      for (const name of REPLACED) await sql`DROP INDEX ${sql.id(name)}`.execute(db)
    },
  }
}

const SHARED = sql`AND visibility <> 'private'`
const PUBLIC = sql`AND visibility = 'public'`

const INDEXES: readonly MigrationIndex[] = [
  ...indexes('files_listed'),
  ...indexes('files_listed_shared', SHARED),
  ...indexes('files_listed_public', PUBLIC),
]

function indexes(name: string, audience: RawBuilder<unknown> = sql``): readonly MigrationIndex[] {
  return ['updated_at', 'size'].map((column) => ({
    table: 'files',
    name: `${name}_by_${column}`,
    definition: sql`(user_id, ${sql.id(column)}, name) WHERE ${sql.id(column)} >= 0 ${audience}`,
  }))
}

const REPLACED = ['files', 'files_shared', 'files_public'].flatMap((name) => [
  `${name}_by_updated_at`,
  `${name}_by_size`,
])
