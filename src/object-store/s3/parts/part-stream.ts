import type { BufferPool } from '../../buffer-pool.ts'
import { detachBuffer } from '../../detach-buffer.ts'
import { PartBuffer } from './part-buffer.ts'

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
  readonly mayDetachChunks?: boolean | undefined
}

/**
 * Gathers bytes to parts of `partSize`; the last one is as long as what is left, and there is always one. Each stands in
 * memory of its own, so that what has been sent is held by nothing, whatever is kept of the next part.
 */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  { partSize, blocks, mayDetachChunks = false }: GatherOptions,
): AsyncGenerator<Part, void> {
  let partNumber = 0
  let content = new PartBuffer(blocks)

  function cut(isLast: boolean): Part {
    const part = { partNumber: ++partNumber, content, isLast }
    content = new PartBuffer(blocks)
    return part
  }

  for await (const piece of bytes) {
    let rest = piece
    // Only a byte beyond a part shows that it is not the last.
    while (content.byteLength + rest.byteLength > partSize) {
      const missing = partSize - content.byteLength
      if (missing > 0) content.add(rest.subarray(0, missing))
      rest = rest.subarray(missing)
      yield cut(false)
    }
    content.add(rest)
    // Where parts are so large that this one is a copy, so is any that the piece began in.
    if (mayDetachChunks && content.isCopy) detachBuffer(piece)
  }
  yield cut(true)
}
