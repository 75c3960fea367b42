import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { steadyTime } from '../../../core/clock/steady-time.ts'
import { checksumOf } from './pack-file.ts'

export type PackChange =
  | {
      readonly put: string
      /** JSON. */
      readonly metadata: string
      readonly content: Uint8Array
    }
  | { readonly remove: string }

/** What the thread that makes the changes is given. */
export interface PackThread {
  readonly file: string
  /** That of the pack which the calling thread reads, if there is one: the writer changes no other one. */
  readonly fileId: string | undefined
}

/** Limits the length of a transaction. */
const MAX_CHANGES = 64

/** Free pages are filled again by later objects, so a few are kept. The rest is given back in small steps. */
const FREE_PAGES_KEPT = 1024
const SHARE_OF_FREE_PAGES_KEPT = 1 / 64
const PAGES_GIVEN_BACK = 64

/** Makes concurrent changes of a pack in one transaction, and so with one disk write. */
export class PackWriter {
  readonly #pack: DatabaseSync
  readonly #put: StatementSync
  readonly #remove: StatementSync
  readonly #pages: StatementSync
  readonly #waiting: Waiting[] = []

  constructor(pack: DatabaseSync) {
    this.#pack = pack
    this.#put = pack.prepare(
      `INSERT INTO objects (key, metadata, crc32, content) VALUES (?, ?, ?, ?)
       RETURNING length(content) AS size`,
    )
    this.#remove = pack.prepare('DELETE FROM objects WHERE key = ?')
    this.#pages = pack.prepare(
      'SELECT freelist_count AS free, page_count AS pages FROM pragma_freelist_count, pragma_page_count',
    )
  }

  /**
   * Durable when it resolves, to the size of the object that was put, or 0. A put rejects if the key is taken, and after
   * `until` (by `steadyTime`): its caller has given up, and may have removed the object already.
   */
  change(change: PackChange, until: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const waiting = { change, until, size: 0, resolve, reject }
      if (this.#waiting.push(waiting) === 1) setImmediate(() => this.#run())
    })
  }

  #run(): void {
    const group = this.#waiting.splice(0, MAX_CHANGES)
    if (this.#waiting.length > 0) setImmediate(() => this.#run())
    this.#commit(group)
    if (this.#waiting.length === 0 && group.some(({ change }) => 'remove' in change)) this.#shrink()
  }

  #commit(group: readonly Waiting[]): void {
    const made: Waiting[] = []
    try {
      this.#pack.exec('BEGIN IMMEDIATE')
      for (const waiting of group) {
        if (this.#make(waiting)) made.push(waiting)
      }
      this.#pack.exec('COMMIT')
    } catch (error) {
      if (this.#pack.isTransaction) this.#pack.exec('ROLLBACK')
      for (const waiting of group) waiting.reject(error)
      return
    }
    for (const waiting of made) waiting.resolve(waiting.size)
  }

  /** A change that fails alone is refused alone. */
  #make(waiting: Waiting): boolean {
    const { change, until } = waiting
    try {
      if ('remove' in change) {
        this.#remove.run(change.remove)
      } else {
        if (steadyTime() > until) throw new Error('It was given up.')
        const { put, metadata, content } = change
        const checksum = checksumOf(put, metadata, content)
        waiting.size = Number(this.#put.get(put, metadata, checksum, content)?.['size'])
      }
      return true
    } catch (error) {
      // After some errors SQLite has already rolled back all of it.
      if (!this.#pack.isTransaction) throw error
      waiting.reject(error)
      return false
    }
  }

  /** Gives free pages back to the file system, while nothing else is to do. */
  #shrink(): void {
    const { free, pages } = this.#pages.get() as { readonly free: number; readonly pages: number }
    if (free <= Math.max(FREE_PAGES_KEPT, pages * SHARE_OF_FREE_PAGES_KEPT)) return
    try {
      this.#pack.exec(`PRAGMA incremental_vacuum(${PAGES_GIVEN_BACK})`)
    } catch {
      // The next removal tries again.
      return
    }
    setImmediate(() => {
      if (this.#waiting.length === 0 && this.#pack.isOpen) this.#shrink()
    })
  }
}

interface Waiting {
  readonly change: PackChange
  readonly until: number
  size: number
  resolve(size: number): void
  reject(error: unknown): void
}
