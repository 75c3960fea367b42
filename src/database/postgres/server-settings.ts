import { sql } from 'kysely'
import type { Database } from '../database.ts'

export interface SessionSettings {
  readonly read_only: string
  readonly server_encoding: string
  readonly replication_role: string
}

/** Throws for a server that could not keep what the service promises, whatever the session sets. */
export function assertFit(settings: SessionSettings | undefined): void {
  if (settings?.read_only !== 'off') throw new Error('The server takes no writes')
  const { server_encoding: encoding, replication_role: role } = settings
  // Others cannot hold every file name; SQL_ASCII converts and checks nothing.
  if (encoding !== 'UTF8') {
    throw new Error(
      `The encoding of the database is ${encoding}, but must be UTF8. ` +
        "Create it with: CREATE DATABASE <name> ENCODING 'UTF8' TEMPLATE template0",
    )
  }
  if (role !== 'origin') {
    throw new Error(`session_replication_role is ${role}, which disables triggers and foreign keys`)
  }
}

/** Settings with which the server loses what it has confirmed. Valid, for example in tests. */
export async function durabilityWarnings(
  database: Pick<Database, 'query'>,
): Promise<readonly string[]> {
  const { rows } = await database.query((kysely) =>
    sql<{ readonly name: string; readonly setting: string }>`
      SELECT name, setting FROM pg_settings WHERE name IN (${sql.join([...SAFE.keys()])})
    `.execute(kysely),
  )
  return rows
    .filter(({ name, setting }) => setting !== SAFE.get(name))
    .map(
      ({ name, setting }) =>
        `${name} is ${setting} on the PostgreSQL server: a crash can lose acknowledged files`,
    )
    .toSorted()
}

/** The values with which a crash loses nothing (PostgreSQL documentation, sections 19.5 and 19.17). */
const SAFE: ReadonlyMap<string, string> = new Map([
  ['fsync', 'on'],
  ['full_page_writes', 'on'],
  ['zero_damaged_pages', 'off'],
])

/** Whether the user of the connection may create tables, as migrations do. */
export async function mayCreateTables(database: Pick<Database, 'query'>): Promise<boolean> {
  const { rows } = await database.query((kysely) =>
    sql<{ readonly may: boolean | null }>`
      SELECT has_schema_privilege(current_schema(), 'CREATE') AS may
    `.execute(kysely),
  )
  return rows[0]?.may === true
}
