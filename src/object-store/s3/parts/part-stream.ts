import type { Blocks } from '../../buffer-pool.ts'
import { freeChunk } from '../../detach-buffer.ts'
import { PartContent } from './part-buffer.ts'

/** A piece of an object that is sent in one request. */
export interface Part {
  /** From 1 on. */
  readonly partNumber: number
  readonly content: PartContent
  readonly isLast: boolean
}

export interface GatherOptions {
  /** Bytes. */
  readonly partSize: number
  readonly blocks: Blocks
  /** As `PutObject` has it. */
  readonly mayFreeChunks?: boolean | undefined
}

/**
 * Gathers bytes to parts of `partSize`; the last one is as long as what is left, and there is always one. Each stands in
 * memory of its own, so that what has been sent is held by nothing, whatever is kept of the next part.
 */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  { partSize, blocks, mayFreeChunks = false }: GatherOptions,
): AsyncGenerator<Part, void> {
  let partNumber = 0
  let content = new PartContent(blocks)

  function cut(isLast: boolean): Part {
    const part = { partNumber: ++partNumber, content, isLast }
    content = new PartContent(blocks)
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
    if (mayFreeChunks && content.isCopy) freeChunk(piece)
  }
  yield cut(true)
}
