import { realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { withRepeats } from '../database.ts'
import { classify, createPrivately } from './sqlite.ts'

/**
 * The processes that serve one embedded database. Each holds a shared lock of the system on a file beside it, which ends with
 * the process, however that ends, and not while it stands still. In WAL mode all of them run on one machine, so one that
 * gets the lock for itself alone knows that the others are gone.
 */
export class SqliteInstances {
  readonly #file: string
  #connection: DatabaseSync | undefined

  /** `file` is that of the database, which is there. */
  constructor(file: string) {
    // A link would have a lock of its own.
    this.#file = `${realpathSync(file)}-instances`
  }

  /**
   * Joins them until `leave`. Calls `takeOver` before and resolves to its answer where it is certain that no other process
   * serves the database, and that none does before it has resolved. That is never certain where the file is new, since a
   * version that did not know of it may be serving. Rejects as `takeOver` does, and with `unavailable` when another process
   * takes over for too long.
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

/** Whether the connection got the lock for itself alone; a transaction then holds it. */
function hasAlone(connection: DatabaseSync): boolean {
  try {
    connection.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (classify(error) === 'locked') return false
    throw error
  }
}

/** Does the work of who has the lock alone, and gives the lock back. */
async function first<T>(connection: DatabaseSync, takeOver: () => Promise<T>): Promise<T> {
  try {
    return await takeOver()
  } finally {
    connection.exec('ROLLBACK')
  }
}

/** Begins a transaction that holds the shared lock, and never ends. */
function share(connection: DatabaseSync): void {
  connection.exec('BEGIN')
  try {
    connection.prepare('SELECT * FROM sqlite_schema').all()
  } catch (error) {
    connection.exec('ROLLBACK')
    throw error
  }
}
