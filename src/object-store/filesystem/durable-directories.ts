import { ensureDirectory, hasCode, MISSING, syncDirectory } from './fsync-directory.ts'

/** Saves system calls by remembering which directories are durable. Only an operator ever removes them. */
export class DurableDirectories {
  readonly #ensured = new Map<string, Promise<void>>()
  readonly #syncs = new Map<string, SharedSync>()

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
    const running = this.#syncs.get(directory)
    if (running === undefined) return this.#startSync(directory)
    return (running.next ??= running.settled.then(() => this.#startSync(directory)))
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

  #startSync(directory: string): Promise<void> {
    const syncing = syncDirectory(directory)
    const shared: SharedSync = { settled: syncing.catch(() => undefined), next: undefined }
    this.#syncs.set(directory, shared)
    void shared.settled.finally(() => {
      if (shared.next === undefined) this.#syncs.delete(directory)
    })
    return syncing
  }
}

interface SharedSync {
  readonly settled: Promise<void>
  next: Promise<void> | undefined
}

const MAX_KNOWN = 10_000
