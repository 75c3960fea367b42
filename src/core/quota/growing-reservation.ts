import type { ErrorCode } from '../error-codes.ts'
import { isAppError } from '../errors.ts'
import { FIRST_BYTES } from '../memory/body-memory.ts'

export interface GrowingReservationOptions {
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
      if (end === bytes || !isAppError(error) || !FOR_BYTES.has(error.code)) throw error
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
  'unfinished_uploads_exceeded',
])

/**
 * So many bytes of a narrow credential's upload are not reserved: its commit finds out whether there is room, so that a
 * small upload takes no further transaction.
 */
export const UNRESERVED_BYTES = FIRST_BYTES

/** The largest step, in bytes, in which a reservation grows. */
const MAX_STEP = 8 * 2 ** 20
