import { existsSync } from 'node:fs'
import { opendir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isObjectKey, OBJECT_KEY_PREFIX, type ObjectKey } from '../../core/objects/object-key.ts'
import { orMissing } from './or-missing.ts'
import { BUSY_TIMEOUT_MS } from './pack/pack-copier.ts'
import { openPack, PACK_NAME } from './pack/pack-file.ts'
import { TEMPORARY } from './temporary-files.ts'

export interface RemoveUnnamed {
  /** Of an object store that no service uses. */
  readonly directory: string
  /** Whether anything needs the object. */
  readonly isNamed: (key: ObjectKey) => boolean
  /** Whether anything needs the bytes of the unfinished upload with this object key. */
  readonly isUnfinished: (key: ObjectKey) => boolean
  readonly signal: AbortSignal
}

/** Removes all objects that nothing needs, and returns how many. Leaves alone what is none of a store. */
export async function removeUnnamed(options: RemoveUnnamed): Promise<number> {
  return removePacked(options) + (await removeFiles(options))
}

const MAX_REMOVED = 200

function removePacked({ directory, isNamed, signal }: RemoveUnnamed): number {
  const file = join(directory, PACK_NAME)
  if (!existsSync(file)) return 0
  using pack = openPack({ file, isServed: false, busyTimeoutMs: BUSY_TIMEOUT_MS })
  const keys = pack.prepare('SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT ?')
  const remove = pack.prepare('DELETE FROM objects WHERE key = ?')
  let [after, removed]: [string | undefined, number] = ['', 0]
  while (after !== undefined) {
    signal.throwIfAborted()
    const page: readonly string[] = keys.all(after, MAX_REMOVED).map(({ key }) => String(key))
    const unnamed = page.filter((key) => !isNamed(`${OBJECT_KEY_PREFIX}${key}` as ObjectKey))
    if (unnamed.length > 0) {
      pack.exec('BEGIN IMMEDIATE')
      for (const key of unnamed) remove.run(key)
      pack.exec('COMMIT')
    }
    removed += unnamed.length
    after = page.at(-1)
  }
  if (removed > 0) pack.exec('PRAGMA incremental_vacuum')
  return removed
}

async function removeFiles({
  directory,
  isNamed,
  isUnfinished,
  signal,
}: RemoveUnnamed): Promise<number> {
  let removed = 0
  const users = await orMissing(opendir(join(directory, OBJECT_KEY_PREFIX)))
  for await (const user of users ?? []) {
    const folder = join(directory, OBJECT_KEY_PREFIX, user.name)
    for await (const { name } of (await orMissing(opendir(folder))) ?? []) {
      signal.throwIfAborted()
      const key = `${OBJECT_KEY_PREFIX}${user.name}/${name.slice(0, VERSION_CHARACTERS)}`
      const rest = name.slice(VERSION_CHARACTERS)
      if (!isObjectKey(key)) continue
      if (rest.startsWith(TEMPORARY) ? isUnfinished(key) : isNamed(key)) continue
      await rm(join(folder, name), { recursive: true, force: true })
      if (rest === '') removed += 1
    }
    // Fails if it is not empty.
    await rmdir(folder).catch(() => undefined)
  }
  return removed
}

const VERSION_CHARACTERS = 36
