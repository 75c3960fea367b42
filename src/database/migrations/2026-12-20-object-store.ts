import { sql } from 'kysely'
import type { Database } from '../database.ts'
import type { SchemaMigration } from './index-definition.ts'

/** Empty until the first start that recognizes the object store. Instances of the previous version ignore it. */
export function objectStore({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  return {
    async up(db) {
      await sql`CREATE TABLE object_store (
        id bigint PRIMARY KEY CHECK (id = 1),
        identity text COLLATE ${bytewise} NOT NULL,
        is_confirmed bigint NOT NULL
      )`.execute(db)
    },
  }
}
