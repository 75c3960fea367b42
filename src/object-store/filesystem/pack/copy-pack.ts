import { setImmediate } from 'node:timers/promises'
import type { CopiedObjects, CopyPack } from '../../../core/objects/copy-pack.ts'
import { OBJECT_KEY_PREFIX } from '../../../core/objects/object-key.ts'
import { BUSY_TIMEOUT_MS, PackCopier, type PackedRow } from './pack-copier.ts'
import { namingPack, openPack, openPackToRead } from './pack-file.ts'

/** Limits a transaction, for which a service would wait that uses the pack. */
const MAX_OBJECTS = 200

/**
 * Guarantees, once resolved, that `to` durably has every object that `from` had when the call began, but for those that
 * it calls damaged. Removes and replaces nothing, and copies only what is missing, as far as it came if it rejects.
 * Services can use both packs meanwhile. Resolves to what it added.
 */
export async function copyPack(options: CopyPack): Promise<CopiedObjects> {
  const { from, to, onProgress, onUnreadable, signal } = options
  using source = namingPack(() => openPackToRead({ file: from, busyTimeoutMs: BUSY_TIMEOUT_MS }))
  const keys = source.prepare('SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT ?')
  openPack({ file: to, isServed: false, busyTimeoutMs: BUSY_TIMEOUT_MS }).close()
  using copier = new PackCopier({ from, to })
  const copied = { objects: 0, bytes: 0 }

  /** `undefined` if a service has removed it, or if it is damaged. */
  function readIntact(key: string): PackedRow | undefined {
    try {
      return copier.read(key)
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
    for (const key of page.filter((key) => !copier.has(key))) {
      const row = readIntact(key)
      if (row === undefined) continue
      copier.add(key, row)
      copied.objects += 1
      copied.bytes += row.content.byteLength
    }
    copier.commit()
    onProgress(copied)
    after = page.at(-1)
    await setImmediate()
  }
  return copied
}
