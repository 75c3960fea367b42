import type { Blocks } from '../../buffer-pool.ts'
import { freeChunk } from '../../detach-buffer.ts'
import { PartContent } from './part-buffer.ts'

/** A piece of an object as lib-storage's `Upload` sends it. */
export interface Part {
  /** From 1 on. */
  readonly partNumber: number
  readonly data: PartContent
  readonly lastPart: boolean
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
  let data = new PartContent(blocks)

  function cut(lastPart: boolean): Part {
    const part = { partNumber: ++partNumber, data, lastPart }
    data = new PartContent(blocks)
    return part
  }

  for await (const piece of bytes) {
    let rest = piece
    // Only a byte beyond a part shows that it is not the last.
    while (data.byteLength + rest.byteLength > partSize) {
      const missing = partSize - data.byteLength
      if (missing > 0) data.add(rest.subarray(0, missing))
      rest = rest.subarray(missing)
      yield cut(false)
    }
    data.add(rest)
    // Where parts are so large that this one is a copy, so is any that the piece began in.
    if (mayFreeChunks && data.isCopy) freeChunk(piece)
  }
  yield cut(true)
}
