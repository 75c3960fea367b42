import type { BodyMemory } from '../../core/objects/object-store.ts'
import { BUFFER_BYTES, type BufferPool } from '../buffer-pool.ts'

export interface Part {
  readonly partNumber: number
  readonly content: PartBuffer
  readonly isLast: boolean
}

export interface GatherOptions {
  /** In bytes. */
  readonly partSize: number
  readonly pool: BufferPool
  readonly memory?: BodyMemory | undefined
  readonly expectedSize?: number | undefined
}

/** Yields at least one part; all but the last hold `partSize` bytes. Parts share no memory, so each is freed alone. */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  { partSize, pool, memory, expectedSize }: GatherOptions,
): AsyncGenerator<Part, void> {
  let partNumber = 1
  let content = new PartBuffer(pool, memory)
  for await (const chunk of memory?.hold(bytes, { partSize, expectedSize }) ?? bytes) {
    let rest = chunk
    // Only a byte beyond a full part proves that it is not the last.
    while (content.byteLength + rest.byteLength > partSize) {
      const missing = partSize - content.byteLength
      if (missing > 0) content.add(rest.subarray(0, missing))
      rest = rest.subarray(missing)
      yield { partNumber, content, isLast: false }
      partNumber += 1
      content = new PartBuffer(pool, memory)
    }
    content.add(rest)
    // If this part is a copy, so are the earlier parts that took bytes of the chunk.
    if (content.isCopy) memory?.detach(chunk)
  }
  yield { partNumber, content, isLast: true }
}

/** Smaller content stays in its original chunks: most files then need no pooled buffer and hardly any copying. */
const MAX_LOOSE_BYTES = 64 * 1024
const MAX_LOOSE_CHUNKS = 16

/** Content of one request. Copying into pooled buffers frees chunks early: a few bytes pin no large chunk. */
export class PartBuffer {
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

  /** In order; invalid after `giveBack`. */
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

  /** Frees the memory. Call at most once, when nothing reads it any more; else it is garbage-collected. */
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
