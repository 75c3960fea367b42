import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shareRuns } from '../../core/async/shared-run.ts'
import { hasCode, MISSING, TAKEN } from '../../core/system-error.ts'

/** Saves system calls by remembering which directories are durable. Only an operator ever removes them. */
export class DurableDirectories {
  readonly #ensured = new Map<string, Promise<void>>()
  readonly #syncs = new Map<string, () => Promise<void>>()

  /**
   * Guarantees what `ensureDirectory` does, then calls `open`, which creates a file in `directory`. If the directory
   * has been removed, creates it again and repeats the call.
   */
  async enter<T>(directory: string, root: string, open: () => Promise<T>): Promise<T> {
    await this.#ensure(directory, root)
    try {
      return await open()
    } catch (error) {
      if (!hasCode(error, MISSING)) throw error
      this.#ensured.delete(directory)
      await this.#ensure(directory, root)
      return await open()
    }
  }

  /** As `syncDirectory`, by an fsync that begins after the call and serves all calls that wait for it. */
  sync(directory: string): Promise<void> {
    const known = this.#syncs.get(directory)
    if (known !== undefined) return known()
    if (this.#syncs.size === MAX_KNOWN) this.#syncs.clear()
    const sync = shareRuns(() => syncDirectory(directory))
    this.#syncs.set(directory, sync)
    return sync()
  }

  #ensure(directory: string, root: string): Promise<void> {
    const known = this.#ensured.get(directory)
    if (known !== undefined) return known
    if (this.#ensured.size === MAX_KNOWN) this.#ensured.clear()
    const ensuring = ensureDirectory(directory, root)
    this.#ensured.set(directory, ensuring)
    ensuring.catch(() => this.#ensured.delete(directory))
    return ensuring
  }
}

const MAX_KNOWN = 10_000

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
