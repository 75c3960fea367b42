import type { Version } from '../../objects/object-key.ts'

export interface NamedRelease {
  readonly version: Version
  /** Of the claim. */
  readonly epoch: number
}

interface Release extends NamedRelease {
  /** Repeatable. */
  readonly run: () => Promise<unknown>
  readonly since: number
  attempt?: Promise<void> | undefined
}

/** An upload whose release has failed for so long is left to its next append, which takes it over. */
const GIVE_UP_MS = 15 * 60_000

/**
 * Releases of claims that the database has not confirmed. Without them, an upload would look as if its instance had
 * died, and its next append would copy its bytes or find it lost.
 */
export class PendingReleases {
  readonly #pending = new Set<Release>()

  get size(): number {
    return this.#pending.size
  }

  has({ version, epoch }: NamedRelease): boolean {
    return [...this.#pending].some((each) => each.version === version && each.epoch === epoch)
  }

  /** Runs the release, and leaves it to `retry` if it fails. Never rejects. */
  async settle({ version, epoch }: NamedRelease, run: Release['run']): Promise<void> {
    const release = { version, epoch, run, since: performance.now() }
    this.#pending.add(release)
    await this.#attempt(release)
  }

  /** Repeats the releases of all uploads, or of one. Never rejects. */
  async retry(version?: Version): Promise<void> {
    const all = [...this.#pending]
    const due = all.filter((each) => version === undefined || each.version === version)
    await Promise.all(due.map((release) => this.#attempt(release)))
  }

  #attempt(release: Release): Promise<void> {
    release.attempt ??= this.#run(release)
    return release.attempt
  }

  async #run(release: Release): Promise<void> {
    try {
      await release.run()
      this.#pending.delete(release)
    } catch {
      if (performance.now() - release.since >= GIVE_UP_MS) this.#pending.delete(release)
    }
    release.attempt = undefined
  }
}
