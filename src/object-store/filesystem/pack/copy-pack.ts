import { setImmediate } from 'node:timers/promises'
import type { CopiedObjects, CopyPack } from '../../../core/objects/copy-pack.ts'
import { OBJECT_KEY_PREFIX } from '../../../core/objects/object-key.ts'
import { contentOf, namingPack, openPack, openPackToRead } from './pack-file.ts'

/** Limits a transaction, for which a service would wait that uses the pack. */
const MAX_OBJECTS = 200

const BUSY_TIMEOUT_MS = 10_000

/**
 * Guarantees, once resolved, that `to` durably has every object that `from` had when the call began, but for those that
 * it calls damaged. Removes and replaces nothing, and copies only what is missing, as far as it came if it rejects.
 * Services can use both packs meanwhile. Resolves to what it added.
 */
export async function copyPack(options: CopyPack): Promise<CopiedObjects> {
  const { from, to, onProgress, onUnreadable, signal } = options
  using source = namingPack(() => openPackToRead({ file: from, busyTimeoutMs: BUSY_TIMEOUT_MS }))
  using target = openPack({ file: to, isServed: false, busyTimeoutMs: BUSY_TIMEOUT_MS })
  const keys = source.prepare('SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT ?')
  const byKey = source.prepare('SELECT metadata, crc32, content FROM objects WHERE key = ?')
  const has = target.prepare('SELECT 1 FROM objects WHERE key = ?')
  const add = target.prepare(
    'INSERT INTO objects (key, metadata, crc32, content) VALUES (?, ?, ?, ?)',
  )
  const copied = { objects: 0, bytes: 0 }

  /** `undefined` if a service has removed it, or if it is damaged. */
  function readIntact(key: string) {
    try {
      const row = namingPack(() => byKey.get(key))
      if (row === undefined) return undefined
      const { metadata = null, crc32 = null } = row
      return { metadata, crc32, content: contentOf(row, key) }
    } catch (reason) {
      onUnreadable({ objectKey: OBJECT_KEY_PREFIX + key, reason })
      return undefined
    }
  }

  let after: string | undefined = ''
  while (after !== undefined) {
    signal.throwIfAborted()
    const start: string = after
    const page = namingPack(() => keys.all(start, MAX_OBJECTS)).map(({ key }) => String(key))
    target.exec('BEGIN IMMEDIATE')
    for (const key of page.filter((key) => has.get(key) === undefined)) {
      const row = readIntact(key)
      if (row === undefined) continue
      add.run(key, row.metadata, row.crc32, row.content)
      copied.objects += 1
      copied.bytes += row.content.byteLength
    }
    target.exec('COMMIT')
    onProgress(copied)
    after = page.at(-1)
    await setImmediate()
  }
  return copied
}
