import { sql } from 'kysely'
import type { Database } from '../database.ts'

/** Whether the user of the connection may create tables, as migrations do. */
export async function mayCreateTables(database: Pick<Database, 'query'>): Promise<boolean> {
  const { rows } = await database.query((kysely) =>
    sql<{ readonly may: boolean | null }>`
      SELECT has_schema_privilege(current_schema(), 'CREATE') AS may
    `.execute(kysely),
  )
  return rows[0]?.may === true
}
