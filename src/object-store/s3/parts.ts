import type { Permit } from '../../core/async/fair-semaphore.ts'
import { FIRST_BYTES } from '../../core/memory/body-memory.ts'
import { BUFFER_BYTES, type BufferPool } from '../buffer-pool.ts'

export interface Part {
  readonly partNumber: number
  readonly content: PartContent
  readonly isLast: boolean
}

export interface GatheredPart extends Part {
  readonly content: PartBuffer
}

/** Content of one request. */
export interface PartContent {
  readonly byteLength: number
  /** In order; invalid after `giveBack`. */
  readonly chunks: readonly Uint8Array[]
  /** Releases the memory. Call at most once, when nothing reads it any more; else it is garbage-collected. */
  giveBack(): void
}

export function joinContents(contents: readonly PartContent[]): PartContent {
  return {
    byteLength: contents.reduce((sum, { byteLength }) => sum + byteLength, 0),
    chunks: contents.flatMap(({ chunks }) => chunks),
    giveBack: () => contents.forEach((content) => content.giveBack()),
  }
}

export interface GatherOptions {
  /** In bytes. */
  readonly partSize: number
  /** The first part, if the content does not begin with part 1, or in the middle of one. */
  readonly first?: FirstPart
  /** An upper bound of the content in bytes, if known. */
  readonly expectedSize?: number | undefined
  readonly pool: BufferPool
  /** Called before more than the first bytes of a part are held. `undefined` ends the content. */
  readonly acquire?: ((bytes: number) => Promise<Permit | undefined>) | undefined
  /** As for `put`. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
}

export interface FirstPart {
  readonly partNumber: number
  /** Bytes of content that complete the part. */
  readonly bytes: number
  /** Bytes that the caller adds to the complete part: acquired with the content. */
  readonly heldBefore: number
}

/**
 * Yields at least one part of `bytes`; all but the last have their full size. Parts share no memory, so each is freed
 * alone.
 */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  options: GatherOptions,
): AsyncGenerator<GatheredPart, void> {
  const { partSize, expectedSize = Infinity, pool, acquire, release } = options
  const { first = { partNumber: 1, bytes: partSize, heldBefore: 0 } } = options
  let { partNumber, bytes: size, heldBefore } = first
  let left = expectedSize
  let content = new PartBuffer(pool)
  for await (const chunk of bytes) {
    let rest = chunk
    let isCopied = true
    for (;;) {
      const missing = size - content.byteLength
      const piece = rest.byteLength > missing ? rest.subarray(0, missing) : rest
      const held = content.byteLength + piece.byteLength
      if (acquire !== undefined && content.permit === undefined && held > FIRST_BYTES) {
        content.permit = await acquire(left < size ? left : size + heldBefore)
        if (content.permit === undefined) {
          yield { partNumber, content, isLast: true }
          return
        }
      }
      if (piece.byteLength > 0) {
        content.add(piece)
        isCopied &&= content.isCopy
      }
      rest = rest.subarray(piece.byteLength)
      // Only a byte beyond a full part proves that it is not the last.
      if (rest.byteLength === 0) break
      yield { partNumber, content, isLast: false }
      partNumber += 1
      left -= size
      size = partSize
      heldBefore = 0
      content = new PartBuffer(pool)
    }
    if (isCopied && content.isCopy) release?.(chunk)
  }
  yield { partNumber, content, isLast: true }
}

/** Smaller content stays in its original chunks: most files then need no pooled buffer and hardly any copying. */
const MAX_LOOSE_BYTES = 64 * 1024
const MAX_LOOSE_CHUNKS = 16

/** Copying into pooled buffers frees chunks early, so that a few bytes do not pin a large chunk. */
export class PartBuffer implements PartContent {
  byteLength = 0
  /** Whether all bytes so far were copied out of their chunks. */
  isCopy = false
  /** For the content and what is joined with it. */
  permit: Permit | undefined
  readonly #pool: BufferPool
  #chunks: Uint8Array[] = []

  constructor(pool: BufferPool) {
    this.#pool = pool
  }

  get chunks(): readonly Uint8Array[] {
    const filled = this.byteLength % BUFFER_BYTES
    const last = this.#chunks.at(-1)
    if (!this.isCopy || last === undefined || filled === 0) return this.#chunks
    return [...this.#chunks.slice(0, -1), last.subarray(0, filled)]
  }

  add(chunk: Uint8Array): void {
    const isLarge = this.byteLength + chunk.byteLength > MAX_LOOSE_BYTES
    if (!this.isCopy && isLarge) this.#moveToBuffers()
    if (this.isCopy) {
      this.#copy(chunk)
      return
    }
    if (this.#chunks.length === MAX_LOOSE_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)]
    this.#chunks.push(chunk)
    this.byteLength += chunk.byteLength
  }

  giveBack(): void {
    const buffers = this.isCopy ? this.#chunks : []
    this.#chunks = []
    for (const buffer of buffers) this.#pool.giveBack(buffer as Buffer)
    this.permit?.release()
  }

  #moveToBuffers(): void {
    const loose = this.#chunks
    this.isCopy = true
    this.#chunks = []
    this.byteLength = 0
    for (const chunk of loose) this.#copy(chunk)
  }

  #copy(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.byteLength > 0) {
      const filled = this.byteLength % BUFFER_BYTES
      if (filled === 0) this.#chunks.push(this.#pool.take())
      const taken = rest.subarray(0, BUFFER_BYTES - filled)
      this.#chunks.at(-1)?.set(taken, filled)
      rest = rest.subarray(taken.byteLength)
      this.byteLength += taken.byteLength
    }
  }
}
