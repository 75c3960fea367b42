import { realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createPrivately } from '../../core/sqlite-file.ts'
import { withRepeats } from '../repeats.ts'
import { classify } from './sqlite.ts'

/**
 * Each process that serves the database holds a shared OS lock on a file beside it until it ends, even while suspended.
 * WAL mode confines all of them to one machine, so an exclusive lock proves that the others are gone.
 */
export class SqliteInstances {
  readonly #file: string
  #connection: DatabaseSync | undefined

  constructor(file: string) {
    // A symbolic link would have its own lock.
    this.#file = `${realpathSync(file)}-instances`
  }

  /**
   * Registers this process until `leave`. If certainly no other process serves the database, first calls `takeOver`,
   * while none can start, and resolves to its result. Never certain with a new lock file: somebody may have removed the
   * one that others hold. Rejects as `takeOver` does, and with `unavailable` if another takeover lasts too long.
   */
  async join<T>(takeOver: () => Promise<T>): Promise<T | undefined> {
    const isNew = createPrivately(this.#file)
    const connection = new DatabaseSync(this.#file, { timeout: 0 })
    this.#connection = connection
    const answer = !isNew && hasAlone(connection) ? await first(connection, takeOver) : undefined
    await withRepeats(async () => share(connection), { classify })
    return answer
  }

  leave(): void {
    this.#connection?.close()
    this.#connection = undefined
  }
}

/** Tries for the exclusive lock; on success a transaction holds it. */
function hasAlone(connection: DatabaseSync): boolean {
  try {
    connection.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (classify(error) === 'locked') return false
    throw error
  }
}

async function first<T>(connection: DatabaseSync, takeOver: () => Promise<T>): Promise<T> {
  try {
    return await takeOver()
  } finally {
    connection.exec('ROLLBACK')
  }
}

/** Begins a transaction that holds the shared lock and never ends. */
function share(connection: DatabaseSync): void {
  connection.exec('BEGIN')
  try {
    connection.prepare('SELECT * FROM sqlite_schema').all()
  } catch (error) {
    connection.exec('ROLLBACK')
    throw error
  }
}
