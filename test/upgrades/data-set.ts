import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Exchange } from './exchange.ts'

/** Where an instance keeps its data: SQLite and local files, or PostgreSQL and S3. */
export type Stack = 'embedded' | 'production'

/**
 * What a version has stored, in `test/upgrades/<version>/<stack>/`: the database as SQL in `database.sql`, the objects
 * in `objects.tar.gz` (local files) or `objects.json.gz` (S3), and this in `record.json`. `npm run snapshot` makes it,
 * and no later version changes it.
 */
export interface DataSet {
  readonly exchanges: readonly Exchange[]
  /** Of the user `ada`. */
  readonly token: string
  /** Of a resumable upload that waits for the bytes after its offset. */
  readonly unfinished: { readonly path: string; readonly offset: number; readonly rest: string }
  /** Of a replaced file. */
  readonly pastVersion: string
  /** After the last change. */
  readonly cursor: string
}

export const DATA_SETS = 'test/upgrades'

/** Of all versions that have one. */
export function versionsWithData(): readonly string[] {
  const entries = readdirSync(DATA_SETS, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

export function folderOf(version: string, stack: Stack): string {
  return join(DATA_SETS, version, stack)
}

export function readDataSet(folder: string): DataSet {
  return JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8')) as DataSet
}
