import { AppError } from '../core/errors.ts'

export interface DownloadLimits {
  /** Downloads in progress of one user, or of one address without a token. */
  readonly perUser: number
  /** Downloads in progress of this process. */
  readonly total: number
}

export interface DownloadSlot {
  /** Who downloads: a user, or an address. */
  readonly owner: string
  /** Bytes that the client has taken so far. */
  readonly takenBytes: () => number
  /** Ends the download, which can be resumed with a range. Called at most once, and not after `release`. */
  readonly giveWay: () => void
}

/** Younger downloads have no rate yet, in milliseconds. */
const GRACE_MS = 5_000

/** Slower downloads give way when all slots are taken, in bytes a second; as with uploads. */
const SLOW_BYTES_PER_SECOND = 64 * 1024

/** How long after a refusal a balancer should look elsewhere, in milliseconds. */
const REFUSING_MS = 5_000

const RETRY_AFTER_SECONDS = 5

/**
 * Limits the downloads in progress, each of which holds memory, and a connection to the object store. When all slots are
 * taken the slowest download gives way, if it is slower than 64 KiB/s.
 */
export class DownloadSlots {
  readonly #limits: DownloadLimits
  readonly #taken = new Map<DownloadSlot, { readonly since: number; readonly bytes: number }>()
  readonly #perOwner = new Map<string, number>()
  readonly #now: () => number
  #refusedAt = Number.NEGATIVE_INFINITY

  /** `now` is a monotonic clock in milliseconds. */
  constructor(limits: DownloadLimits, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#now = now
  }

  /** Whether a download was refused just now because all slots were taken. */
  isRefusing(): boolean {
    return this.#now() - this.#refusedAt < REFUSING_MS
  }

  /**
   * Takes a slot, and returns what gives it back, which may be called more than once. Throws `too_many_requests` when the
   * owner has as many as it may, and `unavailable` when all are taken and none of the downloads is slow.
   */
  take(slot: DownloadSlot): () => void {
    const { perUser, total } = this.#limits
    const owned = this.#perOwner.get(slot.owner) ?? 0
    if (owned >= perUser) throw tooMany(perUser)
    if (this.#taken.size >= total && !this.#freeSlowest()) {
      this.#refusedAt = this.#now()
      throw new AppError('unavailable', 'Too many downloads are in progress.')
    }
    this.#taken.set(slot, { since: this.#now(), bytes: slot.takenBytes() })
    this.#perOwner.set(slot.owner, (this.#perOwner.get(slot.owner) ?? 0) + 1)
    return () => this.#release(slot)
  }

  #release(slot: DownloadSlot): void {
    if (!this.#taken.delete(slot)) return
    const left = (this.#perOwner.get(slot.owner) ?? 1) - 1
    if (left === 0) this.#perOwner.delete(slot.owner)
    else this.#perOwner.set(slot.owner, left)
  }

  /** Says whether there was one. */
  #freeSlowest(): boolean {
    const now = this.#now()
    let slowest: DownloadSlot | undefined
    let slowestRate = SLOW_BYTES_PER_SECOND
    for (const [slot, { since, bytes }] of this.#taken) {
      const ms = now - since
      if (ms < GRACE_MS) continue
      const rate = ((slot.takenBytes() - bytes) * 1000) / ms
      if (rate >= slowestRate) continue
      slowest = slot
      slowestRate = rate
    }
    if (slowest === undefined) return false
    this.#release(slowest)
    slowest.giveWay()
    return true
  }
}

function tooMany(perUser: number): AppError {
  return new AppError(
    'too_many_requests',
    `This user or address already has the maximum of ${perUser} downloads in progress.`,
    { facts: { retry_after: RETRY_AFTER_SECONDS } },
  )
}
