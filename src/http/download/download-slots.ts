import type { Socket } from 'node:net'
import { AppError, tooManyRequests } from '../../core/errors.ts'
import { takenBytes } from './send-body.ts'

export interface DownloadLimits {
  /** Maximum per user, or per address without a token. */
  readonly perUser: number
  /** Maximum for this process. */
  readonly total: number
}

export interface DownloadSlot {
  /** The user, or the address without a token. */
  readonly owner: string
  readonly isUser: boolean
  readonly socket: Pick<Socket, 'bytesWritten' | 'writableLength'>
  /** Ends the download. Called at most once, and never after `release`. */
  readonly giveWay: () => void
}

/** A younger download has no meaningful rate yet. */
const GRACE_MS = 5_000

/** Slower downloads give way when all slots are taken. Uploads have the same limit. */
const SLOW_BYTES_PER_SECOND = 64 * 1024

const REFUSING_MS = 5_000

const WAIT_MS = 5_000

/** When full, the slowest download below 64 KiB/s gives way; for a user, so does any download without a token. */
export class DownloadSlots {
  readonly #limits: DownloadLimits
  readonly #taken = new Map<DownloadSlot, Taken>()
  readonly #perOwner = new Map<string, number>()
  readonly #now: () => number
  #refusedAt = Number.NEGATIVE_INFINITY

  constructor(limits: DownloadLimits, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#now = now
  }

  /** Whether a download was just refused because all slots were taken. */
  isRefusing(): boolean {
    return this.#now() - this.#refusedAt < REFUSING_MS
  }

  /** Returns an idempotent release. Throws `too_many_requests` (owner's limit) or `unavailable` (none gives way). */
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

  #freeOneFor({ isUser }: DownloadSlot): boolean {
    const leaving =
      this.#slowest(({ ageMs, rate }) => ageMs >= GRACE_MS && rate < SLOW_BYTES_PER_SECOND) ??
      // Otherwise anonymous clients could keep every user out.
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
  readonly since: number
  readonly bytes: number
  readonly release: () => void
}

interface Download {
  readonly slot: DownloadSlot
  readonly ageMs: number
  /** Average bytes per second since the download began. */
  readonly rate: number
}

function tooMany(perUser: number): AppError {
  return tooManyRequests(
    `This user or address already has the maximum of ${perUser} downloads in progress.`,
    WAIT_MS,
  )
}
