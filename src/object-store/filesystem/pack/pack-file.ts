import { closeSync, fsyncSync, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { hasCode, MISSING, TAKEN } from '../fsync-directory.ts'
import { orMissing } from '../or-missing.ts'

/** In the folder of the object store. */
export const PACK_NAME = 'pack.sqlite'

export interface PackOptions {
  readonly file: string
  /** Reads what is left of a truncated file. A writer refuses one: it would reuse the pages that are missing. */
  readonly isReader?: boolean
  /** Milliseconds that a statement may block its thread while another process has the lock. */
  readonly busyTimeoutMs: number
}

/** Opens the pack, or creates an empty one for its owner only. The folder must exist. */
export function openPack({ file, isReader = false, busyTimeoutMs }: PackOptions): DatabaseSync {
  syncLog(file)
  createPrivately(file)
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs, defensive: !isReader })
  try {
    if (isReader) connection.exec('PRAGMA writable_schema = on')
    // Has an effect, and writes nothing, before the first page alone. A full vacuum would stop all writers.
    const pages = connection.prepare('PRAGMA page_count').get()?.['page_count']
    if (pages === 0) connection.exec('PRAGMA auto_vacuum = incremental')
    for (const [name, value] of PRAGMAS) {
      connection.exec(`PRAGMA ${name} = ${value}`)
      const found = connection.prepare(`PRAGMA ${name}`).get()?.[name]
      if (found !== value) throw new Error(`The SQLite setting ${name} is ${String(found)}`)
    }
    connection.exec(SCHEMA)
    if (isReader) connection.exec('PRAGMA query_only = on')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Bytes on the disk of the pack in this folder. */
export async function measurePack(directory: string): Promise<number> {
  const file = join(directory, PACK_NAME)
  const sizes = await Promise.all(
    [file, `${file}-wal`].map(async (path) => (await orMissing(stat(path)))?.size ?? 0),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A commit is on the disk before any read can see it. */
const PRAGMAS = [
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['fullfsync', 1],
] as const

/** `key` without `users/`; `crc32` of `content`. Content in the order of its row ids is appended, never moved. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS objects (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    metadata TEXT NOT NULL,
    crc32 INTEGER NOT NULL,
    content BLOB NOT NULL
  ) STRICT`

/** What a process wrote that was killed before its own sync is visible, but may not be on the disk yet. */
function syncLog(file: string): void {
  try {
    const log = openSync(`${file}-wal`, 'r')
    try {
      fsyncSync(log)
    } finally {
      closeSync(log)
    }
  } catch (error) {
    if (!hasCode(error, MISSING)) throw error
  }
}

/** SQLite would leave the permissions to the umask. Opens no existing file: closing it would drop locks on it. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!hasCode(error, TAKEN)) throw error
  }
}

/** Returns the content of a row. Throws if it is not what was put. */
export function contentOf(row: Readonly<Record<string, SQLOutputValue>>): Uint8Array {
  const content = row['content'] as Uint8Array
  if (crc32(content) !== row['crc32']) throw new Error(`${PACK_NAME} is damaged`)
  return content
}
