import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type ObjectKey, versionOf } from '../../core/objects/object-key.ts'
import type { NamedContent, UnfinishedContent } from '../../core/backup/named-object.ts'
import { REBUILD } from '../schema.ts'
import { integrityFaultsOf } from './integrity.ts'

/** A copy of the database, of which only the names of objects are read. Changes nothing. */
export class DatabaseCopy implements Disposable {
  readonly #connection: DatabaseSync
  readonly #contentOf: StatementSync
  readonly #uploadOf: StatementSync

  constructor(file: string) {
    this.#connection = new DatabaseSync(file, { readOnly: true })
    try {
      this.#contentOf = this.#connection.prepare(CONTENT_OF)
      this.#uploadOf = this.#connection.prepare(UPLOAD_OF)
    } catch (error) {
      this.#connection.close()
      throw error
    }
  }

  /** The identity of the object store that the database knows. */
  get storeId(): string | undefined {
    const row = this.#connection.prepare('SELECT identity FROM object_store').get()
    return row && String(row['identity'])
  }

  get isRebuilding(): boolean {
    const rows = this.#connection.prepare('SELECT 1 FROM leader_leases WHERE name = ?')
    return rows.get(REBUILD) !== undefined
  }

  /** What is wrong with its pages; nothing if it is sound. */
  faults(): readonly string[] {
    return integrityFaultsOf(this.#connection)
  }

  /** All files and past versions. Holds one row at a time. */
  *contents(): Generator<NamedContent> {
    for (const row of this.#connection.prepare(CONTENTS).iterate()) {
      yield row as unknown as NamedContent
    }
  }

  /** The resumable uploads of which bytes are recorded. */
  *unfinished(): Generator<UnfinishedContent> {
    for (const row of this.#connection.prepare(UNFINISHED).iterate()) {
      yield row as unknown as UnfinishedContent
    }
  }

  /** Whether it names the object, and as what. */
  naming(key: ObjectKey): 'content' | 'upload' | undefined {
    const version = versionOf(key)
    if (this.#contentOf.get(version, key, version, key) !== undefined) return 'content'
    return this.#uploadOf.get(version, key) === undefined ? undefined : 'upload'
  }

  [Symbol.dispose](): void {
    this.#connection.close()
  }
}

const COLUMNS = 'user_id AS userId, name, version, object_key AS key, size, sha256'

const CONTENTS = `
  SELECT ${COLUMNS}, 0 AS isPast FROM files UNION ALL SELECT ${COLUMNS}, 1 FROM history`

const UPLOADS = `
  FROM uploads JOIN resumable_uploads ON resumable_uploads.version = uploads.version
  WHERE uploads.state = 'pending' AND received_bytes > 0`

const UNFINISHED = `
  SELECT uploads.user_id AS userId, name, uploads.version AS version, object_key AS key,
    received_bytes AS size, store_state AS storeState
  ${UPLOADS}`

const CONTENT_OF = `
  SELECT 1 FROM files WHERE version = ? AND object_key = ?
  UNION ALL
  SELECT 1 FROM history WHERE version = ? AND object_key = ?`

const UPLOAD_OF = `SELECT 1 ${UPLOADS} AND uploads.version = ? AND object_key = ?`
