import { dirname } from 'node:path'
import type { SQLOutputValue, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { CopiedObjects, CopyPack } from '../../../core/objects/copy-pack.ts'
import { OBJECT_KEY_PREFIX } from '../../../core/objects/object-key.ts'
import { syncDirectory } from '../fsync-directory.ts'
import { findIds } from './find-ids.ts'
import { contentOf, openPack, openPackToRead, type PackRow, unlessDamaged } from './pack-file.ts'

/** Limits a transaction, for which a service would wait that uses the pack. */
const MAX_OBJECTS = 200

const BUSY_TIMEOUT_MS = 10_000

/**
 * Guarantees, once resolved, that `to` durably has every readable object that `from` had when the call began. Removes
 * and replaces nothing, and copies only what is missing. Services can use both packs meanwhile. Resolves to what it
 * added.
 */
export async function copyPack(options: CopyPack): Promise<CopiedObjects> {
  const copied = await copyMissing(options)
  // Without a write-ahead log, SQLite ends a transaction by removing its journal, and syncs the folder only before that.
  await syncDirectory(dirname(options.to))
  return copied
}

async function copyMissing(options: CopyPack): Promise<CopiedObjects> {
  const { from, to, onProgress, onUnreadable, signal } = options
  using source = openPackToRead({ file: from, busyTimeoutMs: BUSY_TIMEOUT_MS })
  using target = openPack({ file: to, isServed: false, busyTimeoutMs: BUSY_TIMEOUT_MS })
  const [byKey, byId] = ['key', 'id'].map((column) =>
    source.prepare(`SELECT key, metadata, crc32, content FROM objects WHERE ${column} = ?`),
  ) as [StatementSync, StatementSync]
  const has = target.prepare('SELECT 1 FROM objects WHERE key = ?')
  const isThere = (key: string): boolean => has.get(key) !== undefined
  const add = target.prepare(
    'INSERT INTO objects (key, metadata, crc32, content) VALUES (?, ?, ?, ?)',
  )
  const copied = { objects: 0, bytes: 0 }

  /** `key` is known if the object is read by it. Resolves to `undefined` if there is none, or none that is intact. */
  function readIntact(read: () => PackRow | undefined, key?: string): IntactRow | undefined {
    try {
      const row = read()
      // A service may have removed it.
      if (row === undefined) return undefined
      const { metadata = null, crc32 = null } = row
      const name = String(row['key'])
      return { name, metadata, crc32, content: contentOf(row, name) }
    } catch (reason) {
      onUnreadable({ objectKey: key && OBJECT_KEY_PREFIX + key, reason })
      return undefined
    }
  }

  async function copyPage(page: readonly (() => IntactRow | undefined)[]): Promise<void> {
    signal.throwIfAborted()
    target.exec('BEGIN IMMEDIATE')
    for (const read of page) {
      const row = read()
      if (row === undefined || isThere(row.name)) continue
      add.run(row.name, row.metadata, row.crc32, row.content)
      copied.objects += 1
      copied.bytes += row.content.byteLength
    }
    target.exec('COMMIT')
    onProgress(copied)
    await setImmediate()
  }

  const keys = source.prepare('SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT ?')
  let after = ''
  for (;;) {
    const page = unlessDamaged<readonly string[] | undefined>(
      () => keys.all(after, MAX_OBJECTS).map(({ key }) => String(key)),
      () => undefined,
    )
    if (page === undefined) break
    const missing = page.filter((key) => !isThere(key))
    await copyPage(missing.map((key) => () => readIntact(() => byKey.get(key), key)))
    after = page.at(-1) ?? after
    if (page.length < MAX_OBJECTS) return copied
  }
  // The index is damaged, so the rows are found by their ids.
  const found = findIds(source, {
    file: from,
    // Nobody knows which objects were on the pages that are lost.
    onDamage: (reason) => onUnreadable({ objectKey: undefined, reason }),
  })
  for (const ids of found) await copyPage(ids.map((id) => () => readIntact(() => byId.get(id))))
  return copied
}

interface IntactRow {
  readonly name: string
  readonly metadata: SQLOutputValue
  readonly crc32: SQLOutputValue
  readonly content: Uint8Array
}
