import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Guarantees that there is something of the name `folder`, made as a folder that other users of the machine cannot open
 * if it was missing, and that its way down from `root` outlives a power cut. `root`, unless it is the folder itself, is always synchronised too, since another
 * process may have made the folder a moment ago and not got so far.
 */
export async function ensureFolder(folder: string, root: string): Promise<void> {
  const made = await makeFolders(folder)
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

/**
 * Makes a folder and those above it that are missing, and resolves to the highest one made. Node's own `recursive` never
 * ends in a folder that says of every new entry that there is no such folder, as `/proc` does.
 */
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

/** Whatever the umask. */
const PRIVATE = { mode: 0o700 } as const

/** Resolves to the folder, or to `undefined` where there is something of its name. */
async function makeFolder(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, PRIVATE)
    return folder
  } catch (error) {
    if (hasCode(error, TAKEN)) return undefined
    throw error
  }
}

/** Whether `error` is the operating system's, by one of these codes. */
export function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code)
}
