import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { sleep } from '../../../core/async/sleep.ts'
import { LoopTurns } from '../../../core/async/loop-turns.ts'
import { Thread } from '../../../core/async/thread.ts'
import { fileIdOf } from '../../../core/same-file.ts'
import {
  type NamedObject,
  OBJECT_KEY_PREFIX,
  type ObjectKey,
} from '../../../core/objects/object-key.ts'
import type { ListedObject, ListObjects, ObjectHead } from '../../../core/objects/object-store.ts'
import { storeError } from '../../store-error.ts'
import {
  contentOf,
  isDamage,
  isLocked,
  namingPack,
  openPack,
  openPackToRead,
  PACK_NAME,
  type PackRow,
} from './pack-file.ts'
import type { PackChange, PackThread } from './pack-writer.ts'

export interface PackedObject {
  readonly key: ObjectKey
  readonly metadata: ObjectHead['metadata']
  readonly content: Uint8Array
}

/**
 * Small objects in one SQLite file, because a file for each takes several times the CPU time, an inode and a block.
 * Changes run on a thread, which starts with the first one, and share their disk writes. Reads run on the calling thread,
 * because they take microseconds; where they wait for the disk, users take turns, also with everything else on the thread.
 * All methods reject with `unavailable`, or with SQLite's error.
 */
export class Pack {
  readonly #file: string
  readonly #turns = new LoopTurns(BLOCKING_MS)
  #reader: Reader | undefined
  #thread: Thread<PackChange> | undefined

  constructor(directory: string) {
    this.#file = join(directory, PACK_NAME)
  }

  /** Guarantees that the object is durable when it resolves, to the size that the pack has of it. */
  async put({ key, metadata, content }: PackedObject): Promise<number> {
    // A clone of a slice would clone its whole buffer.
    const isWhole = content.byteLength === content.buffer.byteLength
    return await this.#change({
      put: nameOf(key),
      metadata: JSON.stringify(metadata),
      content: isWhole ? content : new Uint8Array(content),
    })
  }

  /**
   * Creates the pack if it is missing. May wait for a sync of the disk, which no other method does on this thread. Waits
   * for other processes that start, which keep the lock for as long as the disk takes to sync.
   */
  async prepare(signal: AbortSignal): Promise<void> {
    while (!this.#isPrepared()) await sleep(LOCKED_RETRY_MS, signal)
  }

  /** False while another process has the lock. */
  #isPrepared(): boolean {
    try {
      openPack({ file: this.#file, isServed: true, busyTimeoutMs: BUSY_TIMEOUT_MS }).close()
      this.#reader ??= openReader(this.#file)
      return true
    } catch (error) {
      if (isLocked(error)) return false
      // The objects in files can be served.
      if (isDamage(error)) return true
      throw error
    }
  }

  /** Rejects if the object is damaged. */
  async read(object: NamedObject): Promise<Uint8Array | undefined> {
    return await this.#inTurn(object, (reader, name) => {
      const row = reader.content.get(name)
      return row && contentOf(row, name)
    })
  }

  async head(object: NamedObject): Promise<ObjectHead | undefined> {
    return await this.#inTurn(object, (reader, name) => {
      const row = reader.head.get(name)
      if (row === undefined) return undefined
      const metadata = JSON.parse(String(row['metadata'])) as ObjectHead['metadata']
      return { size: Number(row['size']), metadata }
    })
  }

  /** Resolves to whether the pack had the object; its removal is then durable. */
  async remove(object: NamedObject): Promise<boolean> {
    if ((await this.head(object)) === undefined) return false
    await this.#change({ remove: nameOf(object.key) })
    return true
  }

  async *list({ prefix, signal }: ListObjects): AsyncGenerator<ListedObject, void> {
    const start = prefix.slice(OBJECT_KEY_PREFIX.length)
    let after: string | undefined = start
    while (after !== undefined) {
      if (signal.aborted) throw storeError(signal.reason)
      const page: readonly ListedObject[] = this.#page(after, start + AFTER_ALL)
      yield* page
      const last: ListedObject | undefined = page.at(-1)
      after = last && nameOf(last.key)
      await setImmediate()
    }
  }

  #page(after: string, end: string): readonly ListedObject[] {
    return namingPack(() => {
      const reader = this.#read()
      return reader === undefined ? [] : firstOf(reader.page.iterate(after, end))
    })
  }

  async close(): Promise<void> {
    await this.#thread?.close()
    this.#reader?.connection.close()
    this.#reader = undefined
  }

  async #change(change: PackChange): Promise<number> {
    const thread = (this.#thread ??= new Thread({
      module: WORKER,
      workerData: {
        file: this.#file,
        fileId: namingPack(() => this.#read())?.fileId,
      } satisfies PackThread,
      // The next change starts another one.
      onDeath: () => (this.#thread = undefined),
      toError: storeError,
    }))
    thread.start()
    return (await thread.call(change)) as number
  }

  #inTurn<T>(
    { key, signal }: NamedObject,
    use: (reader: Reader, name: string) => T,
  ): Promise<T | undefined> {
    const name = nameOf(key)
    const userId = name.slice(0, name.indexOf('/'))
    return new Promise((resolve, reject) => {
      this.#turns.add(userId, () => {
        try {
          signal.throwIfAborted()
          resolve(
            namingPack(() => {
              const reader = this.#read()
              return reader && use(reader, name)
            }),
          )
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  /** `undefined` while there is no pack. */
  #read(): Reader | undefined {
    if (this.#reader === undefined && existsSync(this.#file)) this.#reader = openReader(this.#file)
    return this.#reader
  }
}

/** With the extension of this file: source or build output. */
const WORKER = new URL(`worker${extname(import.meta.filename)}`, import.meta.url)

/** As many as fit into a page; all that there are before its end, or none. */
function firstOf(rows: Iterable<PackRow>): readonly ListedObject[] {
  const page: ListedObject[] = []
  const endsAt = performance.now() + BLOCKING_MS
  // The schema of a pack has no other keys.
  for (const { key, size } of rows) {
    page.push({ key: `${OBJECT_KEY_PREFIX}${String(key)}` as ObjectKey, size: Number(size) })
    if (page.length === MAX_LISTED || performance.now() > endsAt) break
  }
  return page
}

/** Bounds how long reads and listings block the thread in a turn, except for the last one. */
const BLOCKING_MS = 2

const MAX_LISTED = 500

/** Greater than every character of a key. */
const AFTER_ALL = '\x7F'

function nameOf(key: ObjectKey): string {
  return key.slice(OBJECT_KEY_PREFIX.length)
}

interface Reader {
  readonly connection: DatabaseSync
  readonly fileId: string
  readonly content: StatementSync
  readonly head: StatementSync
  readonly page: StatementSync
}

/** In WAL mode a read waits for no writer, only for another process that opens or closes the pack. */
const BUSY_TIMEOUT_MS = 100

const LOCKED_RETRY_MS = 20

function openReader(file: string): Reader {
  const connection = openPackToRead({ file, busyTimeoutMs: BUSY_TIMEOUT_MS })
  return {
    connection,
    fileId: fileIdOf(file),
    content: connection.prepare('SELECT metadata, crc32, content FROM objects WHERE key = ?'),
    head: connection.prepare('SELECT metadata, length(content) AS size FROM objects WHERE key = ?'),
    page: connection.prepare(
      'SELECT key, length(content) AS size FROM objects WHERE key > ? AND key < ? ORDER BY key',
    ),
  }
}
