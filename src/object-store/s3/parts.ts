import type { BodyMemory } from '../../core/objects/object-store.ts'
import { BUFFER_BYTES, type BufferPool } from '../buffer-pool.ts'

export interface Part {
  readonly partNumber: number
  readonly content: PartBuffer
  readonly isLast: boolean
}

export interface GatherOptions {
  /** Bytes. */
  readonly partSize: number
  readonly blocks: BufferPool
  readonly memory?: BodyMemory | undefined
  readonly expectedSize?: number | undefined
}

/** Yields at least one part; all but the last hold `partSize` bytes. Parts share no memory, so each is freed alone. */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  { partSize, blocks, memory, expectedSize }: GatherOptions,
): AsyncGenerator<Part, void> {
  let partNumber = 1
  let content = new PartBuffer(blocks, memory)
  for await (const piece of memory?.hold(bytes, { partSize, expectedSize }) ?? bytes) {
    let rest = piece
    // Only a byte beyond a full part proves that it is not the last.
    while (content.byteLength + rest.byteLength > partSize) {
      const missing = partSize - content.byteLength
      if (missing > 0) content.add(rest.subarray(0, missing))
      rest = rest.subarray(missing)
      yield { partNumber, content, isLast: false }
      partNumber += 1
      content = new PartBuffer(blocks, memory)
    }
    content.add(rest)
    // If this part is a copy, so are the earlier parts that took bytes of the piece.
    if (content.isCopy) memory?.detach(piece)
  }
  yield { partNumber, content, isLast: true }
}

/** Smaller content stays in its original pieces: most files then need no block and hardly any copying. */
const MAX_LOOSE_BYTES = 64 * 1024
const MAX_LOOSE_PIECES = 16

/** Content of one request. Copying into blocks frees pieces early, so that a few bytes do not pin a large buffer. */
export class PartBuffer {
  byteLength = 0
  /** Whether all bytes so far were copied out of their pieces. */
  isCopy = false
  readonly #blocks: BufferPool
  readonly #memory: BodyMemory | undefined
  #pieces: Uint8Array[] = []

  constructor(blocks: BufferPool, memory?: BodyMemory) {
    this.#blocks = blocks
    this.#memory = memory
  }

  /** In order; invalid after `giveBack`. */
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

  /** Frees the memory. Call at most once, when nothing reads it any more; else it is garbage-collected. */
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
