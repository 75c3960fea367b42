import { BoundedMap } from '../../bounded-map.ts'
import { DigestState } from '../../objects/content-digest.ts'

/** The digests of the content up to an offset. */
interface DigestAt {
  readonly offset: number
  readonly state: DigestState
}

/** Hashes content as it passes, and keeps the states at offsets at which an append can end. */
export class RunningDigest {
  readonly #partSize: number
  readonly #state: DigestState
  #offset: number
  #copies: readonly DigestAt[] = []

  constructor({ offset, state }: DigestAt, partSize: number) {
    this.#offset = offset
    this.#state = state
    this.#partSize = partSize
  }

  update(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.byteLength > 0) {
      const piece = rest.subarray(0, this.#partSize - (this.#offset % this.#partSize))
      this.#state.update(piece)
      this.#offset += piece.byteLength
      rest = rest.subarray(piece.byteLength)
      if (this.#offset % this.#partSize === 0) this.#copy()
    }
  }

  /** The state at exactly this offset, if it is known. States at earlier offsets are forgotten. */
  at(offset: number): DigestState | undefined {
    if (offset === this.#offset) return this.#state.copy()
    this.#copies = this.#copies.filter((copy) => copy.offset >= offset)
    return this.#copies.find((copy) => copy.offset === offset)?.state
  }

  #copy(): void {
    // An append can end this many parts before the bytes that were hashed.
    this.#copies = [
      ...this.#copies.slice(-MAX_COPIES),
      { offset: this.#offset, state: this.#state.copy() },
    ]
  }
}

/** More than the parts that an append has in memory. */
const MAX_COPIES = 15

const MAX_UPLOADS = 1_000

/**
 * The states of unfinished uploads whose last append ended on this instance. Without one, the whole object is read
 * at the end. The least recently used state is forgotten first.
 */
export class DigestCache {
  readonly #digests = new BoundedMap<string, DigestAt>(MAX_UPLOADS)

  /** Removes and returns the state; `undefined` if none is known at this offset. At offset 0, returns a new one. */
  take(version: string, offset: number): DigestState | undefined {
    const found = this.#digests.get(version)
    this.#digests.delete(version)
    if (found?.offset === offset) return found.state
    return offset === 0 ? new DigestState() : undefined
  }

  put(version: string, digest: DigestAt): void {
    this.#digests.set(version, digest)
  }
}
