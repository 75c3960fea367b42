import { existsSync } from 'node:fs'
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { contentOf, namingPack, openPack, openPackToRead } from './pack-file.ts'

export const BUSY_TIMEOUT_MS = 10_000

export interface PackPlaces {
  /** Path of a pack of small objects, which may be missing. */
  readonly from: string
  /** Path of another one, which the first object creates if it is missing. */
  readonly to: string
}

export interface PackedRow {
  readonly metadata: SQLOutputValue
  readonly crc32: SQLOutputValue
  readonly content: Uint8Array
}

/** Copies objects from one pack to another. Services can use both packs meanwhile. */
export class PackCopier implements Disposable {
  readonly #to: string
  readonly #byKey: StatementSync | undefined
  readonly #opened = new DisposableStack()
  #target: Target | undefined
  #isAdding = false

  constructor({ from, to }: PackPlaces) {
    this.#to = to
    if (existsSync(from)) {
      const source = namingPack(() =>
        openPackToRead({ file: from, busyTimeoutMs: BUSY_TIMEOUT_MS }),
      )
      this.#opened.use(source)
      this.#byKey = source.prepare('SELECT metadata, crc32, content FROM objects WHERE key = ?')
    }
    if (existsSync(to)) this.#openTarget()
  }

  /** Whether the other pack has the object. */
  has(name: string): boolean {
    return namingPack(() => this.#target?.has.get(name)) !== undefined
  }

  /** Returns `undefined` if the pack lacks the object. Throws if the object is damaged. */
  read(name: string): PackedRow | undefined {
    const row = namingPack(() => this.#byKey?.get(name))
    if (row === undefined) return undefined
    const { metadata = null, crc32 = null } = row
    return { metadata, crc32, content: contentOf(row, name) }
  }

  /** Durable at the next `commit`. */
  add(name: string, { metadata, crc32, content }: PackedRow): void {
    const { connection, add } = this.#target ?? this.#openTarget()
    if (!this.#isAdding) connection.exec('BEGIN IMMEDIATE')
    this.#isAdding = true
    add.run(name, metadata, crc32, content)
  }

  commit(): void {
    if (this.#isAdding) this.#target?.connection.exec('COMMIT')
    this.#isAdding = false
  }

  /** Undoes what was not committed. */
  [Symbol.dispose](): void {
    this.#opened.dispose()
  }

  #openTarget(): Target {
    const pack = { file: this.#to, isServed: false, busyTimeoutMs: BUSY_TIMEOUT_MS }
    const connection = this.#opened.use(openPack(pack))
    this.#target = {
      connection,
      has: connection.prepare('SELECT 1 FROM objects WHERE key = ?'),
      add: connection.prepare(
        'INSERT INTO objects (key, metadata, crc32, content) VALUES (?, ?, ?, ?)',
      ),
    }
    return this.#target
  }
}

interface Target {
  readonly connection: DatabaseSync
  readonly has: StatementSync
  readonly add: StatementSync
}
