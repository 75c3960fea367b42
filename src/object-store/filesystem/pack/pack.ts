import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { Thread } from '../../../core/async/thread.ts'
import { isObjectKey, OBJECT_KEY_PREFIX, type ObjectKey } from '../../../core/objects/object-key.ts'
import type { ListedObject, ListObjects, ObjectHead } from '../../../core/objects/object-store.ts'
import { storeError } from '../../store-error.ts'
import { contentOf, openPack, PACK_NAME } from './pack-file.ts'
import type { PackChange } from './pack-writer.ts'

export interface PackedObject {
  readonly key: ObjectKey
  readonly metadata: ObjectHead['metadata']
  readonly content: Uint8Array
}

/**
 * Small objects in one SQLite file, because a file for each takes several times the CPU time, an inode and a block.
 * Changes run on a thread, which starts with the first one, and share their disk writes. Reads take microseconds, and
 * run on the calling thread. All methods reject with `unavailable`, or with SQLite's error.
 */
export class Pack {
  readonly #file: string
  #reader: Reader | undefined
  #thread: Thread<PackChange> | undefined

  constructor(directory: string) {
    this.#file = join(directory, PACK_NAME)
  }

  /** Guarantees that the object is durable when it resolves. */
  async put({ key, metadata, content }: PackedObject): Promise<void> {
    // A clone of a slice would clone its whole buffer.
    const isWhole = content.byteLength === content.buffer.byteLength
    await this.#change({
      put: nameOf(key),
      metadata: JSON.stringify(metadata),
      content: isWhole ? content : new Uint8Array(content),
    })
  }

  /** Creates the pack if it is missing. May wait for the disk, which no other method does on this thread. */
  prepare(): void {
    this.#reader ??= openReader(this.#file)
  }

  read(key: ObjectKey): Uint8Array | undefined {
    const row = this.#read()?.content.get(nameOf(key))
    return row && contentOf(row)
  }

  head(key: ObjectKey): ObjectHead | undefined {
    const row = this.#read()?.head.get(nameOf(key))
    if (row === undefined) return undefined
    const metadata = JSON.parse(String(row['metadata'])) as ObjectHead['metadata']
    return { size: Number(row['size']), metadata }
  }

  /** Resolves to whether the pack had the object; its removal is then durable. */
  async remove(key: ObjectKey): Promise<boolean> {
    if (this.head(key) === undefined) return false
    await this.#change({ remove: nameOf(key) })
    return true
  }

  async *list({ prefix, signal }: ListObjects): AsyncGenerator<ListedObject, void> {
    const name = prefix.slice(OBJECT_KEY_PREFIX.length)
    let after: string | undefined = name
    while (after !== undefined) {
      if (signal.aborted) throw storeError(signal.reason)
      const rows: readonly ListedRow[] = this.#page({ after, end: name + AFTER_ALL })
      for (const row of rows) {
        const key = OBJECT_KEY_PREFIX + String(row['key'])
        if (isObjectKey(key)) yield { key, size: Number(row['size']) }
      }
      after = rows.length < MAX_LISTED ? undefined : String(rows.at(-1)?.['key'])
      await setImmediate()
    }
  }

  /** The size of an object that is damaged is -1. */
  #page({ after, end }: { readonly after: string; readonly end: string }): readonly ListedRow[] {
    const reader = this.#read()
    if (reader === undefined) return []
    try {
      return reader.page.all(after, end, MAX_LISTED)
    } catch {
      const names = reader.names.all(after, end, MAX_LISTED)
      return names.map(({ key = null }) => {
        try {
          return { key, size: reader.head.get(key)?.['size'] ?? -1 }
        } catch {
          return { key, size: -1 }
        }
      })
    }
  }

  async close(): Promise<void> {
    await this.#thread?.close()
    this.#reader?.connection.close()
    this.#reader = undefined
  }

  async #change(change: PackChange): Promise<void> {
    this.#thread ??= new Thread({
      program: PROGRAM,
      data: { file: this.#file },
      // The next change starts another one.
      onDeath: () => (this.#thread = undefined),
      failure: storeError,
    })
    this.#thread.start()
    await this.#thread.call(change)
  }

  /** `undefined` while there is no pack. */
  #read(): Reader | undefined {
    if (this.#reader === undefined && existsSync(this.#file)) this.prepare()
    return this.#reader
  }
}

/** With the extension of this file: source or build output. */
const PROGRAM = new URL(`worker${extname(import.meta.filename)}`, import.meta.url)

/** Bounds how long a listing occupies the thread. */
const MAX_LISTED = 500

/** Greater than every character of a key. */
const AFTER_ALL = '\x7F'

function nameOf(key: ObjectKey): string {
  return key.slice(OBJECT_KEY_PREFIX.length)
}

type ListedRow = Readonly<Record<string, SQLOutputValue>>

interface Reader {
  readonly connection: DatabaseSync
  readonly content: StatementSync
  readonly head: StatementSync
  readonly page: StatementSync
  /** Read from the index alone. */
  readonly names: StatementSync
}

/** In WAL mode a read waits for no writer, only for another process that opens or closes the pack. */
const BUSY_TIMEOUT_MS = 100

function openReader(file: string): Reader {
  const connection = openPack({ file, isReader: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
  return {
    connection,
    content: connection.prepare('SELECT crc32, content FROM objects WHERE key = ?'),
    head: connection.prepare('SELECT metadata, length(content) AS size FROM objects WHERE key = ?'),
    page: connection.prepare(`SELECT key, length(content) AS size FROM objects ${PAGE}`),
    names: connection.prepare(`SELECT key FROM objects ${PAGE}`),
  }
}

const PAGE = 'WHERE key > ? AND key < ? ORDER BY key LIMIT ?'
