import { BUFFER_BYTES, type BufferPool } from '../../buffer-pool.ts'

/** Up to here pieces are kept as they came, so many at a time: most files need no block, and hardly a copy. */
const MAX_LOOSE_BYTES = 64 * 1024
const MAX_LOOSE_PIECES = 16

/**
 * Bytes that are gathered to be sent in one request. They are copied out of the pieces in which they come, so that those
 * can be freed while they are young, and so that a few bytes do not hold the memory of many.
 */
export class PartBuffer {
  byteLength = 0
  readonly #blocks: BufferPool
  /** The pieces as they came, or full blocks and then one that is being filled. */
  #pieces: Uint8Array[] = []
  #isLoose = true

  constructor(blocks: BufferPool) {
    this.#blocks = blocks
  }

  /** The bytes, in order; read before `giveBack`. */
  get pieces(): readonly Uint8Array[] {
    const filled = this.byteLength % BUFFER_BYTES
    const last = this.#pieces.at(-1)
    if (this.#isLoose || last === undefined || filled === 0) return this.#pieces
    return [...this.#pieces.slice(0, -1), last.subarray(0, filled)]
  }

  /** Whether the bytes were copied out of all pieces so far. */
  get isCopy(): boolean {
    return !this.#isLoose
  }

  add(piece: Uint8Array): void {
    const isLarge = this.byteLength + piece.byteLength > MAX_LOOSE_BYTES
    if (this.#isLoose && isLarge) this.#moveToBlocks()
    if (this.#isLoose && this.#pieces.length === MAX_LOOSE_PIECES) {
      this.#pieces = [Buffer.concat(this.#pieces)]
    }
    if (this.#isLoose) this.#pieces.push(piece)
    else this.#copy(piece)
    this.byteLength += piece.byteLength
  }

  /** Gives up the memory, when nothing reads it any more. Without it, the collector finds it. */
  giveBack(): void {
    const blocks = this.#isLoose ? [] : this.#pieces
    this.#pieces = []
    this.#isLoose = true
    for (const block of blocks) this.#blocks.giveBack(block as Buffer)
  }

  #moveToBlocks(): void {
    const loose = this.#pieces
    this.#isLoose = false
    this.#pieces = []
    this.byteLength = 0
    for (const piece of loose) {
      this.#copy(piece)
      this.byteLength += piece.byteLength
    }
  }

  /** Does not count the bytes. */
  #copy(piece: Uint8Array): void {
    let filled = this.byteLength % BUFFER_BYTES
    for (let rest = piece; rest.byteLength > 0; filled = 0) {
      if (filled === 0) this.#pieces.push(this.#blocks.take())
      const taken = rest.subarray(0, BUFFER_BYTES - filled)
      this.#pieces.at(-1)?.set(taken, filled)
      rest = rest.subarray(taken.byteLength)
    }
  }
}
