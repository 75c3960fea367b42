import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { migrate } from '../../../src/database/migrate.ts'
import type { Database } from '../../../src/database/database.ts'
import { openSqlite, type SqliteOptions } from '../../../src/database/sqlite/sqlite.ts'
import { createMemoryFolder } from '../servers/local-server.ts'

/** A new SQLite database with all tables and no rows. */
export async function openMigrated(options: SqliteOptions): Promise<Database> {
  await writeMigratedFile(options.file)
  return await openSqlite(options)
}

/** Writes such a database, which nobody has open. */
export async function writeMigratedFile(file: string): Promise<void> {
  migrated ??= createMigrated()
  await writeFile(file, await migrated, { mode: 0o600, flag: 'wx' })
}

/** The bytes of one: all migrations take longer than most tests that need it. */
let migrated: Promise<Buffer> | undefined

async function createMigrated(): Promise<Buffer> {
  const folder = await createMemoryFolder('migrated')
  try {
    const file = join(folder.path, 'database.sqlite')
    const database = await openSqlite({ file })
    await migrate(database)
    await database.close()
    return await readFile(file)
  } finally {
    await folder.remove()
  }
}
