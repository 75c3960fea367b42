import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Guarantees that the path `folder` exists, private if new, and survives a power cut from `root` down. */
export async function ensureFolder(folder: string, root: string): Promise<void> {
  const made = await makeFolders(folder)
  // Up to `root` even if nothing was created: another process may have created the folder and not synced it yet.
  const top = made === undefined || made.length > root.length ? root : dirname(made)
  for (let parent = dirname(folder); parent.length >= top.length; parent = dirname(parent)) {
    await syncFolder(parent)
    if (parent === dirname(parent)) return
  }
}

/** Guarantees that the entries of `folder` are on disk (POSIX fsync of a directory). */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Resolves to the topmost folder created. Node's `recursive` never ends where all `mkdir`s say ENOENT (`/proc`). */
async function makeFolders(folder: string): Promise<string | undefined> {
  try {
    return await makeFolder(folder)
  } catch (error) {
    const parent = dirname(folder)
    if (!hasCode(error, MISSING) || parent === folder) throw error
    const highest = await makeFolders(parent)
    const made = await makeFolder(folder)
    return highest ?? made
  }
}

const MISSING: ReadonlySet<unknown> = new Set(['ENOENT'])
const TAKEN: ReadonlySet<unknown> = new Set(['EEXIST'])

const PRIVATE = { mode: 0o700 } as const

/** Resolves to `undefined` if the name is taken. */
async function makeFolder(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, PRIVATE)
    return folder
  } catch (error) {
    if (hasCode(error, TAKEN)) return undefined
    throw error
  }
}

export function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code)
}
