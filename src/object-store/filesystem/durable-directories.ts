import { shareRuns } from '../../core/async/shared-run.ts'
import { hasCode, MISSING } from '../../core/system-error.ts'
import { ensureDirectory, syncDirectory } from './fsync-directory.ts'

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
