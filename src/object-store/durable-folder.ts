import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Guarantees that `folder` exists, and that its way down from `root` outlives a power cut. `root`, unless it
 * is the folder itself, is always synchronised too, since another process may have made the folder a moment ago and not
 * got so far.
 */
export async function ensureFolder(folder: string, root: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true })
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
