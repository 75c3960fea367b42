import { isAppError } from '../errors.ts'
import type { BeginUpload, Ledger } from '../ledger/ledger.ts'

/** What an upload has reserved. To dispose of it ends the renewal of its lease, and settles nothing. */
export interface Reservation extends Disposable {
  /**
   * Resolves once the ledger has reserved room for a file of `bytes` in all, or rejects with `capacity_exceeded`.
   * `undefined` when it has already, which is the usual case and costs nothing.
   */
  cover(bytes: number): Promise<void> | undefined

  /**
   * Aborts when the lease could not be renewed for as long as it runs. Whoever works under it must stop then: the
   * sweeper may have given the upload up, and some day its journal row is forgotten, so that nobody would look for
   * what is still written.
   */
  readonly lost: AbortSignal
}

export interface ReserveOptions {
  readonly ledger: Ledger
  readonly upload: Omit<BeginUpload, 'bytes'>
  /** The size that the request announces, or `undefined`. */
  readonly announced: number | undefined
  /** The smallest size that the file can have. */
  readonly min: number
  /** The largest size that the file can have, when the request says. */
  readonly max?: number
}

/** Most room that is asked for at once while a body without a length streams in, in bytes. */
const MAX_STEP = 8 * 2 ** 20

/**
 * Begins an upload in the ledger and keeps its lease alive. What is announced is reserved at once, so that a file
 * that can't fit is refused before its body; without that the reservation grows in steps as bytes come. Where the ledger
 * does not say whether it began, what it may have reserved is given back, which the caller does not wait for.
 */
export async function reserve(options: ReserveOptions): Promise<Reservation> {
  const { ledger, upload, max = Number.MAX_SAFE_INTEGER } = options
  const begun = await begin(options)
  let covered = begun.bytes

  async function grow(bytes: number): Promise<void> {
    try {
      // Doubling keeps the calls few and, while a file is small, what it takes from others. One that comes in a piece
      // takes nothing that it does not need.
      const step = covered === 0 ? 0 : Math.min(bytes, MAX_STEP)
      await extend(Math.min(bytes + step, Math.max(bytes, max)))
    } catch (error) {
      if (covered === 0 || !isAppError(error, 'capacity_exceeded')) throw error
      // A whole step does not fit; the bytes at hand still may.
      await extend(bytes)
    }
  }

  async function extend(bytes: number): Promise<void> {
    const { userId, userCreatedAt, version, leaseMs } = upload
    await ledger.extend({ userId, userCreatedAt, version, bytes, leaseMs })
    covered = bytes
  }

  return {
    cover: (bytes) => (bytes <= covered ? undefined : explain(grow(bytes), begun.refusal)),
    ...keepLease(options),
  }
}

/** Renews an upload's lease, which has just begun, several times in each of its terms. */
function keepLease({ ledger, upload }: ReserveOptions): Pick<Reservation, 'lost'> & Disposable {
  const { version, leaseMs } = upload
  const lost = new AbortController()
  let endsAt = performance.now() + leaseMs
  async function renew(): Promise<void> {
    const askedAt = performance.now()
    try {
      await ledger.renew({ version, leaseMs })
      endsAt = askedAt + leaseMs
    } catch (error) {
      // Before that it may be a hiccup, and in the end the compare-and-set of the commit decides.
      if (performance.now() >= endsAt) lost.abort(error)
    }
  }
  const renewal = setInterval(() => void renew(), leaseMs / 3).unref()
  return { lost: lost.signal, [Symbol.dispose]: () => clearInterval(renewal) }
}

/**
 * Reserves what is announced. Small fields may follow the file, in which case it is smaller than announced: when
 * that does not fit but the least possible size does, the upload goes on and its real size decides.
 */
async function begin(options: ReserveOptions): Promise<{ bytes: number; refusal?: unknown }> {
  const { ledger, upload, announced, min } = options
  const bytes = announced ?? min
  try {
    try {
      await ledger.begin({ ...upload, bytes })
      return { bytes }
    } catch (error) {
      if (!isAppError(error, 'capacity_exceeded') || min >= bytes) throw error
      await ledger.begin({ ...upload, bytes: min })
      return { bytes: min, refusal: error }
    }
  } catch (error) {
    // It may have reserved all the same, and then a retry would find no room until the lease ends.
    if (isAppError(error, 'unavailable')) void giveBack(options)
    throw error
  }
}

/** Best effort: what it can't do now, the sweeper does when the lease has ended. Never rejects. */
async function giveBack({ ledger, upload: { userId, version } }: ReserveOptions): Promise<void> {
  await ledger.abort({ userId, version, isUntouched: true }).catch(() => undefined)
}

/** Prefers the refusal of the whole file, whose figures say more than those of its first bytes. */
async function explain(growth: Promise<void>, refusal: unknown): Promise<void> {
  try {
    await growth
  } catch (error) {
    throw isAppError(error, 'capacity_exceeded') ? (refusal ?? error) : error
  }
}
