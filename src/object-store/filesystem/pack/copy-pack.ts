import { lstat } from 'node:fs/promises'
import type { SQLInputValue } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { OBJECT_KEY_PREFIX } from '../../../core/objects/object-key.ts'
import { contentOf, openPack } from './pack-file.ts'

export interface CopyPack {
  readonly from: string
  /** Created if it is missing. */
  readonly to: string
  readonly onProgress: (progress: PackCopied) => void
  /** Called for an object that cannot be read, with its key and the reason. The others are copied. */
  readonly onUnreadable: (key: string, reason: unknown) => void
  readonly signal: AbortSignal
}

export interface PackCopied {
  readonly objects: number
  readonly bytes: number
}

/** Bounds a transaction, for which the service would wait if it uses one of the packs. */
const MAX_OBJECTS = 200

const BUSY_TIMEOUT_MS = 10_000

/**
 * Guarantees, once resolved, that one pack has all objects that the other had before the call and could be read. Removes
 * and replaces none, and copies only those that are missing. Services can use both meanwhile. Resolves to what it added.
 */
export async function copyPack(options: CopyPack): Promise<PackCopied> {
  const { from, to, onProgress, signal } = options
  await lstat(from)
  using source = openPack({ file: from, isReader: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
  using target = openPack({ file: to, busyTimeoutMs: BUSY_TIMEOUT_MS })
  const keys = source.prepare('SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT ?')
  const read = source.prepare('SELECT metadata, crc32, content FROM objects WHERE key = ?')
  const add = target.prepare(
    'INSERT INTO objects (key, metadata, crc32, content) VALUES (?, ?, ?, ?)',
  )
  const has = target.prepare('SELECT 1 FROM objects WHERE key = ?')
  const copied = { objects: 0, bytes: 0 }
  const readIntact = (key: string): PackRow | undefined => {
    try {
      const row = read.get(key)
      // A service may have removed it.
      if (row === undefined) return undefined
      const { metadata = null, crc32 = null } = row
      return { metadata, crc32, content: contentOf(row) }
    } catch (error) {
      options.onUnreadable(OBJECT_KEY_PREFIX + key, error)
      return undefined
    }
  }
  const copy = (key: string): void => {
    const row = readIntact(key)
    if (row === undefined) return
    const { metadata, crc32, content } = row
    add.run(key, metadata, crc32, content)
    copied.objects += 1
    copied.bytes += content.byteLength
  }
  for (let after: string | undefined = ''; after !== undefined;) {
    signal.throwIfAborted()
    const page: readonly string[] = keys.all(after, MAX_OBJECTS).map(({ key }) => String(key))
    target.exec('BEGIN IMMEDIATE')
    for (const key of page) if (has.get(key) === undefined) copy(key)
    target.exec('COMMIT')
    after = page.length < MAX_OBJECTS ? undefined : page.at(-1)
    onProgress(copied)
    await setImmediate()
  }
  return copied
}

interface PackRow {
  readonly metadata: SQLInputValue
  readonly crc32: SQLInputValue
  readonly content: Uint8Array
}
