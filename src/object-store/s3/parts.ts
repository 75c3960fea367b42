import type { BodyMemory } from '../../core/objects/object-store.ts'
import { BUFFER_BYTES, type BufferPool } from '../buffer-pool.ts'

/** A piece of an object that is sent in one request. */
export interface Part {
  /** From 1 on. */
  readonly partNumber: number
  readonly content: PartBuffer
  readonly isLast: boolean
}

export interface GatherOptions {
  /** Bytes. */
  readonly partSize: number
  readonly blocks: BufferPool
  /** As `PutObject` has it. */
  readonly memory?: BodyMemory | undefined
  readonly expectedSize?: number | undefined
}

/**
 * Gathers bytes to parts of `partSize`; the last one is as long as what is left, and there is always one. Each stands in
 * memory of its own, so that what has been sent is held by nothing, whatever is kept of the next part.
 */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  { partSize, blocks, memory, expectedSize }: GatherOptions,
): AsyncGenerator<Part, void> {
  let partNumber = 1
  let content = new PartBuffer(blocks, memory)
  for await (const piece of memory?.hold(bytes, { partSize, expectedSize }) ?? bytes) {
    let rest = piece
    // Only a byte beyond a part shows that it is not the last.
    while (content.byteLength + rest.byteLength > partSize) {
      const missing = partSize - content.byteLength
      if (missing > 0) content.add(rest.subarray(0, missing))
      rest = rest.subarray(missing)
      yield { partNumber, content, isLast: false }
      partNumber += 1
      content = new PartBuffer(blocks, memory)
    }
    content.add(rest)
    // Where parts are so large that this one is a copy, so is any that the piece began in.
    if (content.isCopy) memory?.detach(piece)
  }
  yield { partNumber, content, isLast: true }
}

/** Up to here pieces are kept as they came, so many at a time: most files need no block, and hardly a copy. */
const MAX_LOOSE_BYTES = 64 * 1024
const MAX_LOOSE_PIECES = 16

/**
 * Bytes that are gathered to be sent in one request. They are copied out of the pieces in which they come, so that those
 * can be freed while they are young, and so that a few bytes do not hold the memory of many.
 */
export class PartBuffer {
  byteLength = 0
  /** Whether the bytes were copied out of all pieces so far. */
  isCopy = false
  readonly #blocks: BufferPool
  readonly #memory: BodyMemory | undefined
  /** The pieces as they came, or full blocks and then one that is being filled. */
  #pieces: Uint8Array[] = []

  constructor(blocks: BufferPool, memory?: BodyMemory) {
    this.#blocks = blocks
    this.#memory = memory
  }

  /** The bytes, in order; read before `giveBack`. */
  get pieces(): readonly Uint8Array[] {
    const filled = this.byteLength % BUFFER_BYTES
    const last = this.#pieces.at(-1)
    if (!this.isCopy || last === undefined || filled === 0) return this.#pieces
    return [...this.#pieces.slice(0, -1), last.subarray(0, filled)]
  }

  add(piece: Uint8Array): void {
    const isLarge = this.byteLength + piece.byteLength > MAX_LOOSE_BYTES
    if (!this.isCopy && isLarge) this.#moveToBlocks()
    if (this.isCopy) {
      this.#copy(piece)
      return
    }
    if (this.#pieces.length === MAX_LOOSE_PIECES) this.#pieces = [Buffer.concat(this.#pieces)]
    this.#pieces.push(piece)
    this.byteLength += piece.byteLength
  }

  /** Gives up the memory, once, when nothing reads it any more. Without it, the garbage collector finds it. */
  giveBack(): void {
    const blocks = this.isCopy ? this.#pieces : []
    this.#pieces = []
    for (const block of blocks) this.#blocks.giveBack(block as Buffer)
    this.#memory?.release(this.byteLength)
  }

  #moveToBlocks(): void {
    const loose = this.#pieces
    this.isCopy = true
    this.#pieces = []
    this.byteLength = 0
    for (const piece of loose) this.#copy(piece)
  }

  #copy(piece: Uint8Array): void {
    let rest = piece
    while (rest.byteLength > 0) {
      const filled = this.byteLength % BUFFER_BYTES
      if (filled === 0) this.#pieces.push(this.#blocks.take())
      const taken = rest.subarray(0, BUFFER_BYTES - filled)
      this.#pieces.at(-1)?.set(taken, filled)
      rest = rest.subarray(taken.byteLength)
      this.byteLength += taken.byteLength
    }
  }
}
