import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode, MISSING, TAKEN } from '../../core/system-error.ts'

/** Guarantees that the path `directory` exists, private if new, and survives a power cut from `root` down. */
export async function ensureDirectory(directory: string, root: string): Promise<void> {
  const made = await makeDirectories(directory)
  // Up to `root` even if nothing was created: another process may have created the directory and not synced it yet.
  const top = made === undefined || made.length > root.length ? root : dirname(made)
  for (let parent = dirname(directory); parent.length >= top.length; parent = dirname(parent)) {
    await syncDirectory(parent)
    if (parent === dirname(parent)) return
  }
}

/** Guarantees that the entries of `directory` are on disk (POSIX fsync of a directory). */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Resolves to the topmost directory created. Node's `recursive` never ends where all `mkdir`s say ENOENT (`/proc`). */
async function makeDirectories(directory: string): Promise<string | undefined> {
  try {
    return await makeDirectory(directory)
  } catch (error) {
    const parent = dirname(directory)
    if (!hasCode(error, MISSING) || parent === directory) throw error
    const highest = await makeDirectories(parent)
    const made = await makeDirectory(directory)
    return highest ?? made
  }
}

const PRIVATE = { mode: 0o700 } as const

/** Resolves to `undefined` if the name is taken. */
async function makeDirectory(directory: string): Promise<string | undefined> {
  try {
    await mkdir(directory, PRIVATE)
    return directory
  } catch (error) {
    if (hasCode(error, TAKEN)) return undefined
    throw error
  }
}
