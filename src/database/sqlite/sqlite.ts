import { stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { createPrivately, resultCodesOf, setPragma, syncLog } from '../../core/sqlite-file.ts'
import { createDatabase, type Database, type Execute } from '../database.ts'
import { type Fault, withRepeats } from '../repeats.ts'
import { createGroupCommit } from './group-commit.ts'
import type { Tables } from '../schema.ts'
import { sqliteDialect, SqliteDriver } from './dialect.ts'

export interface SqliteOptions {
  /** In an existing folder. Several processes may use the file at once. */
  readonly file: string
  /** Milliseconds since 1970, for tests; the system clock by default. */
  readonly clock?: (() => number) | undefined
  /** Milliseconds that an attempt may block a dedicated thread while the database is locked; 0 by default. */
  readonly busyTimeoutMs?: number
  /** Milliseconds to wait for the lock in all, for tests. */
  readonly lockTimeoutMs?: number
  /**
   * Keeps what undoes savepoints, and temporary tables, in memory instead of a file. Suits many small transactions; large
   * sorts would use memory too.
   */
  readonly undoInMemory?: boolean
}

/** Guarantees that resolved transactions survive power loss. Rejects with `unavailable` if SQLite cannot ensure it. */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const { lockTimeoutMs } = options
  const repeats = { classify, lockTimeoutMs }
  syncLog(options.file)
  const connection = await withRepeats(async () => connect(options), repeats)
  const driver = new SqliteDriver(connection)
  const kysely = new Kysely<Tables>({ dialect: sqliteDialect(driver) })
  const measurePages = connection.prepare(
    `SELECT freelist_count * page_size AS free, page_count * page_size AS whole
     FROM pragma_freelist_count, pragma_page_count, pragma_page_size`,
  )
  const execute: Execute = (statement) => driver.executeQuery(statement)
  return createDatabase({
    kysely,
    // A disk write blocks the thread, so many transactions share one.
    transact: createGroupCommit({
      kysely,
      execute,
      isInTransaction: () => connection.isTransaction,
      writes: () => driver.writes,
    }),
    executeInTransaction: execute,
    runBatch: undefined,
    now: sql<number>`(SELECT now_ms())`,
    // BEGIN IMMEDIATE is the lock.
    forUpdate: undefined,
    // A commit is synced to the disk before any read can see it.
    confirmation: undefined,
    bytewise: sql`BINARY`,
    indexOf: (text, part) => sql<number>`instr(${text}, ${part})`,
    textList: {
      has: (list, column) => sql<boolean>`${column} IN (SELECT value FROM json_each(${list}))`,
      valueOf: (texts) => JSON.stringify(texts),
    },
    clustered: sql`WITHOUT ROWID`,
    createTrigger: ({ name, event, when, statement }) => [
      sql.raw(`CREATE TRIGGER ${name} AFTER ${event} WHEN ${when} BEGIN ${statement}; END`),
    ],
    keepIndexOrder: undefined,
    migrateAlone: undefined,
    // Enough to share a disk write.
    changesPerUser: 16,
    connections: undefined,
    measureFreePages: async () => {
      const row = measurePages.get()
      const { size } = await stat(options.file)
      return Number(row?.['free'] ?? 0) - Math.max(0, Number(row?.['whole'] ?? 0) - size)
    },
    // One statement is one snapshot. SQLite's backup API would restart whenever another process writes.
    copyTo: (target) =>
      withRepeats(async () => {
        connection.prepare('VACUUM INTO ?').run(target)
      }, repeats),
    classify,
    lockTimeoutMs,
    release: async () => {
      if (connection.isOpen) connection.close()
    },
  })
}

const PRAGMAS = [
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['foreign_keys', 1],
  ['fullfsync', 1],
  // After a long read, such as a backup, the log is cut again: a full disk would not get its space back otherwise.
  ['journal_size_limit', 16 * 1024 * 1024],
] as const

function connect(options: SqliteOptions): DatabaseSync {
  const { file, clock = Date.now, busyTimeoutMs = 0, undoInMemory = false } = options
  createPrivately(file)
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    for (const [name, value] of PRAGMAS) setPragma(connection, name, value)
    if (undoInMemory) connection.exec('PRAGMA temp_store = MEMORY')
    // A number would reach SQLite as floating point.
    connection.function('now_ms', () => BigInt(Math.trunc(clock())))
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

const LOCKED_CODES: ReadonlySet<number> = new Set([
  5, // SQLITE_BUSY
  6, // SQLITE_LOCKED
  15, // SQLITE_PROTOCOL: lost the race for the WAL's lock
])

const DEFECT_CODES: ReadonlySet<number> = new Set([
  1, // SQLITE_ERROR: wrong SQL
  18, // SQLITE_TOOBIG
  19, // SQLITE_CONSTRAINT
  20, // SQLITE_MISMATCH
  21, // SQLITE_MISUSE
  25, // SQLITE_RANGE
])

/** SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: the shared-memory file cannot grow. */
const FULL_CODE = 13
const NO_ROOM_FOR_SHARED_MEMORY = 4874

export function classify(error: unknown): Fault {
  if (error instanceof TypeError || error instanceof RangeError) return 'defect'
  const codes = resultCodesOf(error)
  if (codes === undefined) return 'failure'
  const { primary, extended } = codes
  if (LOCKED_CODES.has(primary)) return 'locked'
  if (primary === FULL_CODE || extended === NO_ROOM_FOR_SHARED_MEMORY) return 'full'
  return DEFECT_CODES.has(primary) ? 'defect' : 'failure'
}
