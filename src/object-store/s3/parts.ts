import type { BodyMemory } from '../../core/objects/body-memory.ts'
import { BUFFER_BYTES, type BufferPool } from '../buffer-pool.ts'

export interface Part {
  readonly partNumber: number
  readonly content: PartContent
  readonly isLast: boolean
}

/** Content of one request. */
export interface PartContent {
  readonly byteLength: number
  /** In order; invalid after `giveBack`. */
  readonly chunks: readonly Uint8Array[]
  /** Frees the memory. Call at most once, when nothing reads it any more; else it is garbage-collected. */
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
  readonly first?: { readonly partNumber: number; readonly bytes: number }
  readonly pool: BufferPool
  readonly memory?: BodyMemory | undefined
}

/**
 * Yields at least one part of `bytes`, which are held by `memory`; all but the last have their full size. Parts share
 * no memory, so each is freed alone.
 */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  { partSize, first = { partNumber: 1, bytes: partSize }, pool, memory }: GatherOptions,
): AsyncGenerator<Part, void> {
  let { partNumber, bytes: size } = first
  let content = new PartBuffer(pool, memory)
  for await (const chunk of bytes) {
    let rest = chunk
    let isCopied = true
    // Only a byte beyond a full part proves that it is not the last.
    while (content.byteLength + rest.byteLength > size) {
      const missing = size - content.byteLength
      if (missing > 0) content.add(rest.subarray(0, missing))
      if (missing > 0 && !content.isCopy) isCopied = false
      rest = rest.subarray(missing)
      yield { partNumber, content, isLast: false }
      partNumber += 1
      size = partSize
      content = new PartBuffer(pool, memory)
    }
    content.add(rest)
    if (isCopied && content.isCopy) memory?.detach(chunk)
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
  readonly #pool: BufferPool
  readonly #memory: BodyMemory | undefined
  #chunks: Uint8Array[] = []

  constructor(pool: BufferPool, memory?: BodyMemory) {
    this.#pool = pool
    this.#memory = memory
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
    this.#memory?.release(this.byteLength)
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
