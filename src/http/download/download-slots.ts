import type { Socket } from 'node:net'
import { AppError } from '../../core/errors.ts'
import { takenBytes } from './send-body.ts'

export interface DownloadLimits {
  /** Downloads in progress of one user, or of one address without a token. */
  readonly perUser: number
  /** Downloads in progress of this process. */
  readonly total: number
}

export interface DownloadSlot {
  /** Who downloads: a user, or an address. */
  readonly owner: string
  /** Whether that is a user, and not an address without a token. */
  readonly isUser: boolean
  /** What the client takes its content from. */
  readonly socket: Pick<Socket, 'bytesWritten' | 'writableLength'>
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
 * taken the slowest download gives way, if it is slower than 64 KiB/s; to a user, also any that has no token.
 */
export class DownloadSlots {
  readonly #limits: DownloadLimits
  readonly #taken = new Map<DownloadSlot, Taken>()
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
   * owner has as many as it may, and `unavailable` when all are taken and none gives way.
   */
  take(slot: DownloadSlot): () => void {
    const { perUser, total } = this.#limits
    const owned = this.#perOwner.get(slot.owner) ?? 0
    if (owned >= perUser) throw tooMany(perUser)
    if (this.#taken.size >= total && !this.#freeOneFor(slot)) {
      this.#refusedAt = this.#now()
      throw new AppError('unavailable', 'Too many downloads are in progress.')
    }
    const release = (): void => {
      if (!this.#taken.delete(slot)) return
      const left = (this.#perOwner.get(slot.owner) ?? 1) - 1
      if (left === 0) this.#perOwner.delete(slot.owner)
      else this.#perOwner.set(slot.owner, left)
    }
    this.#taken.set(slot, { since: this.#now(), bytes: takenBytes(slot.socket), release })
    this.#perOwner.set(slot.owner, (this.#perOwner.get(slot.owner) ?? 0) + 1)
    return release
  }

  /** Says whether one gave way. */
  #freeOneFor({ isUser }: DownloadSlot): boolean {
    const leaving =
      this.#slowest(({ ageMs, rate }) => ageMs >= GRACE_MS && rate < SLOW_BYTES_PER_SECOND) ??
      // Else strangers who come and go would keep every user out.
      (isUser ? this.#slowest(({ slot }) => !slot.isUser) : undefined)
    if (leaving === undefined) return false
    this.#taken.get(leaving)?.release()
    leaving.giveWay()
    return true
  }

  #slowest(mayLeave: (download: Download) => boolean): DownloadSlot | undefined {
    const now = this.#now()
    let slowest: Download | undefined
    for (const [slot, { since, bytes }] of this.#taken) {
      const ageMs = now - since
      const rate = ((takenBytes(slot.socket) - bytes) * 1000) / Math.max(1, ageMs)
      const download = { slot, ageMs, rate }
      if (mayLeave(download) && rate < (slowest?.rate ?? Infinity)) slowest = download
    }
    return slowest?.slot
  }
}

interface Taken {
  /** When, and how much its connection had carried by then. */
  readonly since: number
  readonly bytes: number
  readonly release: () => void
}

interface Download {
  readonly slot: DownloadSlot
  readonly ageMs: number
  /** Bytes a second since it began. */
  readonly rate: number
}

function tooMany(perUser: number): AppError {
  return new AppError(
    'too_many_requests',
    `This user or address already has the maximum of ${perUser} downloads in progress.`,
    { facts: { retry_after: RETRY_AFTER_SECONDS } },
  )
}
