import { sql } from 'kysely'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/** For listing the users that were created last. */
export function usersByCreation(): SchemaMigration {
  return {
    indexes: [INDEX],
    async up(db) {
      await createIndex(INDEX).execute(db)
    },
  }
}

const INDEX: MigrationIndex = {
  name: 'users_by_creation',
  table: 'users',
  definition: sql`(created_at, id)`,
}
