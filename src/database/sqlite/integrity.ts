import type { DatabaseSync } from 'node:sqlite'

/** What is wrong with the pages of a database: at most ten faults, none if it is sound. Reads all of it. */
export function integrityFaultsOf(connection: DatabaseSync): readonly string[] {
  const rows = connection.prepare('PRAGMA integrity_check(10)').all()
  return rows.map((row) => String(row['integrity_check'])).filter((fault) => fault !== 'ok')
}
