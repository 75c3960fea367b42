import { link, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../core/errors.ts'
import { assertMigrated } from '../migrate.ts'
import { assertAbsent, createAlone, synchronise } from './backup.ts'
import { integrityFaultsOf } from './integrity.ts'
import { openSqlite } from './sqlite.ts'
import { unfinishedRestoreOf } from './unfinished-restore.ts'

export interface RestoreDatabase {
  readonly file: string
  /** Writes a copy of the database to an empty file. */
  readonly fetch: (temporary: string) => Promise<void>
}

/**
 * Guarantees that `file` is a complete, durable database of this version or an older one, readable by its owner only.
 * Rejects, without changes, if a database or `<file>.restore` exists, if the copy is damaged or foreign, and as `fetch`
 * does.
 */
export async function restore({
  file,
  fetch,
}: RestoreDatabase): Promise<{ readonly bytes: number }> {
  // SQLite would take an old database's log for that of the new one.
  for (const path of [file, `${file}-wal`, `${file}-shm`]) await assertAbsent(path, HINT)
  const temporary = unfinishedRestoreOf(file)
  await createAlone(temporary)
  try {
    await fetch(temporary)
    await assertSound(temporary)
    const bytes = await synchronise(temporary)
    // Unlike a rename it replaces nothing, not even a file created meanwhile.
    await link(temporary, file)
    return { bytes }
  } finally {
    for (const end of ['', '-wal', '-shm']) await rm(temporary + end, { force: true })
    await synchronise(dirname(file))
  }
}

const HINT = ' A restore never replaces a database. Move the file away first.'

async function assertSound(file: string): Promise<void> {
  const { size } = await stat(file)
  const faults = faultsOf(file, size)
  if (faults.length > 0) throw new Error(`The copy is damaged: ${faults.join('; ')}`)
  const database = await openSqlite({ file })
  try {
    await assertMigrated(database)
  } finally {
    await database.close()
  }
}

function faultsOf(file: string, size: number): readonly string[] {
  try {
    const connection = new DatabaseSync(file, { readOnly: true })
    try {
      const numberOf = (name: string) => Number(connection.prepare(`PRAGMA ${name}`).get()?.[name])
      const stated = numberOf('page_size') * numberOf('page_count')
      // SQLite reads a truncated last page as if it ended in zeros.
      if (size !== stated) return [`it has ${size} bytes instead of ${stated}`]
      return integrityFaultsOf(connection)
    } finally {
      connection.close()
    }
  } catch (error) {
    return [messageOf(error)]
  }
}
