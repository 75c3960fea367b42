import { Transform } from 'node:stream'
import { isAppError } from '../../../errors.ts'
import type { ErrorCode } from '../../../error-codes.ts'
import { insufficientStorage } from '../../free-space.ts'
import { fileTooLarge } from '../../store-content.ts'
import { lengthExceeded } from '../refusals.ts'
import type { ResumableOptions } from '../resumable-options.ts'

export interface MeteredAppend {
  /** The offset at which the body begins. */
  readonly offset: number
  readonly length: number | undefined
  readonly reservation: DeferredReservation
}

/** Counts, hashes and limits the bytes, and buffers nothing. */
export function createAppendMeter(
  { maxFileSize, space }: Pick<ResumableOptions, 'maxFileSize' | 'space'>,
  { offset, length, reservation }: MeteredAppend,
  digests: readonly ({ update(chunk: Uint8Array): unknown } | undefined)[],
): Transform {
  let end = offset
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      end += chunk.length
      if (length !== undefined && end > length) return done(lengthExceeded(length))
      if (end > maxFileSize) return done(fileTooLarge(maxFileSize))
      if (space?.hasRoom() === false) return done(insufficientStorage())
      for (const digest of digests) digest?.update(chunk)
      const covered = reservation.cover(end)
      if (covered === undefined) done(null, chunk)
      else covered.then(() => done(null, chunk), done)
    },
  })
}

/** Reserves in steps if the length is deferred. A known length is reserved at once. */
export class DeferredReservation {
  readonly #reserve: ((bytes: number) => Promise<void>) | undefined
  #covered: number

  constructor(reserve: ((bytes: number) => Promise<void>) | undefined, covered: number) {
    this.#reserve = reserve
    this.#covered = covered
  }

  cover(bytes: number): Promise<void> | undefined {
    if (this.#reserve === undefined || bytes <= this.#covered) return undefined
    return this.#grow(bytes, this.#reserve)
  }

  async #grow(bytes: number, reserve: (bytes: number) => Promise<void>): Promise<void> {
    const step = bytes + Math.min(bytes, MAX_STEP)
    try {
      await reserve(step)
      this.#covered = step
    } catch (error) {
      if (!isAppError(error) || !FOR_BYTES.has(error.code)) throw error
      // A whole step does not fit, but the bytes at hand may.
      await reserve(bytes)
      this.#covered = bytes
    }
  }
}

/** The refusals that a smaller reservation may avoid. */
const FOR_BYTES: ReadonlySet<ErrorCode> = new Set([
  'capacity_exceeded',
  'unfinished_uploads_exceeded',
])

/** The largest step, in bytes, in which the reservation of an upload of unknown length grows. */
const MAX_STEP = 8 * 2 ** 20
