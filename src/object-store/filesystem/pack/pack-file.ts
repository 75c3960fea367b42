import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { createPrivately, resultCodesOf, setPragma, syncLog } from '../../../core/sqlite-file.ts'
import { orMissing } from '../or-missing.ts'

/** In the folder of the object store. */
export const PACK_NAME = 'pack.sqlite'

export interface PackToRead {
  readonly file: string
  /** Milliseconds that a statement may block its thread while another process has the lock. */
  readonly busyTimeoutMs: number
}

export interface PackOptions extends PackToRead {
  /**
   * Whether services use the pack: then its reads wait for no writer, by a write-ahead log. A copy is one file, which
   * may be on a network file system. The copy keeps a log that it has.
   */
  readonly isServed: boolean
}

/** Opens the pack, or creates an empty one for its owner only. The folder must exist. Refuses a file that is no pack. */
export function openPack({ file, busyTimeoutMs, isServed }: PackOptions): DatabaseSync {
  syncLog(file)
  createPrivately(file)
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    markIfEmpty(connection)
    assertPack(connection, file)
    for (const [name, value] of isServed ? [WRITE_AHEAD, ...DURABLE] : DURABLE) {
      whenUnlocked(() => setPragma(connection, name, value), busyTimeoutMs)
    }
    // After a long read, the log is cut again.
    connection.exec(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`)
    connection.exec(SCHEMA)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opens an existing pack, and changes nothing in it. */
export function openPackToRead({ file, busyTimeoutMs }: PackToRead): DatabaseSync {
  syncLog(file)
  // SQLite would create a missing one.
  statSync(file)
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    connection.exec('PRAGMA query_only = on')
    assertPack(connection, file)
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

/** Marks a pack ("pack" in ASCII), so that no command takes another database for one. */
const APPLICATION_ID = 0x7061636b

/** Any number of processes may do so at once, and be killed. */
function markIfEmpty(connection: DatabaseSync): void {
  if (!isEmpty(connection)) return
  // Takes effect only in a database without pages; later it needs a full VACUUM, which blocks all writers.
  connection.exec('PRAGMA auto_vacuum = incremental; BEGIN IMMEDIATE')
  // Another process may have filled it meanwhile.
  if (isEmpty(connection)) connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  connection.exec('COMMIT')
}

function isEmpty(connection: DatabaseSync): boolean {
  // The version of the schema says 0 too if the header is damaged.
  const hasTable = connection.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined
  return numberOf(connection, 'application_id') === 0 && !hasTable
}

function assertPack(connection: DatabaseSync, file: string): void {
  if (numberOf(connection, 'application_id') === APPLICATION_ID) return
  throw new Error(`${file} is not a pack of small objects`)
}

function numberOf(connection: DatabaseSync, pragma: string): unknown {
  return connection.prepare(`PRAGMA ${pragma}`).get()?.[pragma]
}

/** Two processes that set the journal mode at once would deadlock, so SQLite makes one fail instead of wait. */
function whenUnlocked(write: () => void, timeoutMs: number): void {
  const waitsUntil = performance.now() + timeoutMs
  for (;;) {
    try {
      write()
      return
    } catch (error) {
      if (!isLocked(error) || performance.now() > waitsUntil) throw error
      Atomics.wait(NEVER_WOKEN, 0, 0, RETRY_MS)
    }
  }
}

const RETRY_MS = 5

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4))

const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024

const WRITE_AHEAD = ['journal_mode', 'wal'] as const

/** A commit is on the disk before any read can see it; without a log, so is the removal of its journal. */
const DURABLE = [
  ['synchronous', 3],
  ['fullfsync', 1],
] as const

/** `key` without `users/`; `crc32` as `checksumOf`. Inserts append content, in the order of the row ids. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS objects (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    metadata TEXT NOT NULL,
    crc32 INTEGER NOT NULL,
    content BLOB NOT NULL
  ) STRICT`

export type PackRow = Readonly<Record<string, SQLOutputValue>>

/** Of all that a row has, so that a damaged page shows no object under the key of another. */
export function checksumOf(name: string, metadata: string, content: Uint8Array): number {
  return crc32(content, crc32(`${name}\n${metadata}`))
}

/** Returns the content of a row with `metadata`, `crc32` and `content`. Throws if it is not what was put as `name`. */
export function contentOf(row: PackRow, name: string): Uint8Array {
  const content = row['content'] as Uint8Array
  if (checksumOf(name, String(row['metadata']), content) === row['crc32']) return content
  throw new Error(`${PACK_NAME} is damaged`)
}

const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11

/** SQLite has found a damaged page, or a file that was cut short. */
export function isDamage(error: unknown): boolean {
  return resultCodesOf(error)?.primary === SQLITE_CORRUPT
}

/** Another process has the lock. */
export function isLocked(error: unknown): boolean {
  return resultCodesOf(error)?.primary === SQLITE_BUSY
}

/** Calls `read`; an error from a damaged file names the pack. */
export function namingPack<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!isDamage(error)) throw error
    throw new Error(`${PACK_NAME} is damaged`, { cause: error })
  }
}
