import { type Watch, watchEvery } from '../async/watch-every.ts'
import { isAppError } from '../errors.ts'
import type { IncomingFile } from './store-content.ts'
import type { BeginUpload, UploadLedger } from './upload-ledger.ts'
import type { ErrorCode } from '../error-codes.ts'
import { FIRST_BYTES } from '../memory/body-memory.ts'

/** An upload's reservation. Disposal only stops the renewal of the lease; it neither commits nor aborts the upload. */
export interface Reservation extends Disposable {
  /** Reserves `bytes` in total or rejects with `capacity_exceeded`; `undefined` if they are already reserved. */
  cover(bytes: number): Promise<void> | undefined

  /**
   * Aborts when the lease has ended without renewal. Work under the lease must then stop: the sweeper may have aborted
   * the upload, and once its journal row is deleted, nothing removes bytes that are written later.
   */
  readonly lost: AbortSignal
}

export interface ReserveOptions {
  readonly ledger: UploadLedger
  readonly upload: Omit<BeginUpload, 'bytes'>
  /** That of the ledger, in milliseconds. */
  readonly leaseMs: number
  readonly size: IncomingFile['size']
}

/**
 * Begins an upload and keeps its lease alive. Reserves an announced size at once, so that a file that can't fit is
 * refused before its body; reserves an unknown size, and any of a narrow credential, in steps. If `begin` has an unknown
 * outcome, frees the reservation in the background.
 */
export async function reserve(options: ReserveOptions): Promise<Reservation> {
  const { ledger, upload, size } = options
  const { bytes, refusal } = await begin(options)
  const { userId, userCreatedAt, version, linkId, evict, credential } = upload
  const covered = credential === undefined ? bytes : UNRESERVED_BYTES
  const extend = (bytes: number): Promise<void> =>
    ledger.extend({ userId, userCreatedAt, version, linkId, bytes, evict })
  const growing = new GrowingReservation({ covered, max: size.max ?? size.announced, extend })
  return {
    cover: (bytes) => {
      const growth = growing.cover(bytes)
      return growth && explain(growth, refusal)
    },
    ...keepLease(options),
  }
}

function keepLease({ ledger, upload, leaseMs }: ReserveOptions): Watch {
  const { version } = upload
  let endsAt = performance.now() + leaseMs
  return watchEvery(leaseMs / 3, async () => {
    const askedAt = performance.now()
    try {
      await ledger.renew({ version })
      endsAt = askedAt + leaseMs
      return undefined
    } catch (error) {
      // An earlier failure may be transient, and the commit's compare-and-set decides in the end.
      return performance.now() >= endsAt ? error : undefined
    }
  })
}

/** Falls back to `min` if the announced size does not fit: the file is smaller if other form fields follow it. */
async function begin(options: ReserveOptions): Promise<{ bytes: number; refusal?: unknown }> {
  const { ledger, upload, size } = options
  const { min } = size
  const bytes = size.announced ?? min
  const reserve = (asked: number): Promise<void> => ledger.begin({ ...upload, bytes: asked })
  try {
    try {
      await reserve(bytes)
      return { bytes }
    } catch (error) {
      if (!isForBytes(error) || min >= bytes) throw error
      await reserve(min)
      return { bytes: min, refusal: error }
    }
  } catch (error) {
    // The reservation may exist, and a retry would find no room until its lease ends.
    if (isAppError(error, 'unavailable')) void abort(options)
    throw error
  }
}

/** Best effort: otherwise the sweeper does it after the lease ends. Never rejects. */
async function abort({ ledger, upload: { userId, version } }: ReserveOptions): Promise<void> {
  await ledger.abort({ userId, version, isUntouched: true }).catch(() => undefined)
}

/** Prefers the refusal of the whole file, whose figures say more than those of its first bytes. */
async function explain(growth: Promise<void>, refusal: unknown): Promise<void> {
  try {
    await growth
  } catch (error) {
    throw isForBytes(error) ? (refusal ?? error) : error
  }
}

interface GrowingReservationOptions {
  /** Bytes that are reserved already, or need not be. */
  readonly covered: number
  /** Largest possible size, if known. */
  readonly max?: number | undefined
  /** Reserves `bytes` in total. */
  readonly extend: (bytes: number) => Promise<void>
}

/** Reserves a body of unknown size in steps. */
export class GrowingReservation {
  readonly #options: GrowingReservationOptions
  #covered: number

  constructor(options: GrowingReservationOptions) {
    this.#options = options
    this.#covered = options.covered
  }

  /** Reserves `bytes` in total or rejects as `extend`; `undefined` if they are already reserved. */
  cover(bytes: number): Promise<void> | undefined {
    return bytes <= this.#covered ? undefined : this.#grow(bytes)
  }

  async #grow(bytes: number): Promise<void> {
    const { max } = this.#options
    // Doubling keeps the calls few and reserves little for a small file; a single chunk reserves only its size. With a
    // maximum, larger steps reserve no more than that in the end.
    const growth = max === undefined ? bytes : 3 * bytes
    const step = this.#covered === 0 ? 0 : Math.min(growth, MAX_STEP)
    const end = Math.min(bytes + step, Math.max(bytes, max ?? Infinity))
    try {
      await this.#extend(end)
    } catch (error) {
      if (end === bytes || !isForBytes(error)) throw error
      // A whole step does not fit, but the bytes at hand may.
      await this.#extend(bytes)
    }
  }

  async #extend(bytes: number): Promise<void> {
    await this.#options.extend(bytes)
    this.#covered = bytes
  }
}

/** The refusals that a smaller reservation may avoid. */
const FOR_BYTES: ReadonlySet<ErrorCode> = new Set([
  'capacity_exceeded',
  'link_limit_exceeded',
  'unfinished_uploads_exceeded',
])

function isForBytes(error: unknown): boolean {
  return isAppError(error) && FOR_BYTES.has(error.code)
}

/**
 * So many bytes of a narrow credential's upload are not reserved: its commit finds out whether there is room, so that a
 * small upload takes no further transaction.
 */
export const UNRESERVED_BYTES = FIRST_BYTES

/** The largest step, in bytes, in which a reservation grows. */
const MAX_STEP = 8 * 2 ** 20
