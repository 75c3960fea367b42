import { closeSync, fsyncSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { hasCode, ABSENT, TAKEN } from './system-error.ts'

/**
 * Creates an empty file for its owner only, because SQLite would leave the permissions to the umask. Returns whether it
 * did. Opens no existing one: closing it would drop the locks of this process on it.
 */
export function createPrivately(file: string): boolean {
  // SQLite's name for a database without a file.
  if (file === ':memory:') return false
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if (!hasCode(error, TAKEN)) throw error
    return false
  }
}

/**
 * Call it before a database is opened: recovery makes commits visible that a killed process wrote to the write-ahead
 * log, but did not sync. Guarantees that they are on the disk.
 */
export function syncLog(file: string): void {
  try {
    const log = openSync(`${file}-wal`, 'r')
    try {
      fsyncSync(log)
    } finally {
      closeSync(log)
    }
  } catch (error) {
    if (!hasCode(error, ABSENT)) throw error
  }
}

/** Throws if the connection does not take the value. */
export function setPragma(connection: DatabaseSync, name: string, value: string | number): void {
  connection.exec(`PRAGMA ${name} = ${value}`)
  const found = connection.prepare(`PRAGMA ${name}`).get()?.[name]
  if (found !== value) {
    throw new Error(`The SQLite setting ${name} is ${String(found)}, but it must be ${value}.`)
  }
}

/** Result codes (sqlite.org/rescode.html). `undefined` if the error is none of SQLite. */
export function resultCodesOf(
  error: unknown,
): { readonly primary: number; readonly extended: number } | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined
  const extended = Number(error.errcode)
  return { primary: extended & 0xff, extended }
}
