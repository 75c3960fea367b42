/** A piece of an object as lib-storage's `Upload` sends it. */
export interface Part {
  /** From 1 on. */
  readonly partNumber: number
  /** Emptied when it has been sent. */
  data: Buffer
  readonly lastPart: boolean
}

/**
 * Gathers bytes to parts of `partSize`; the last one is as long as what is left, and there is always one. Each stands in
 * memory of its own, so that what has been sent is held by nothing, whatever is kept of the next part.
 */
export async function* gatherParts(
  bytes: AsyncIterable<Uint8Array>,
  partSize: number,
): AsyncGenerator<Part, void> {
  let partNumber = 0
  let pieces: Uint8Array[] = []
  let length = 0

  function cut(lastPart: boolean): Part {
    const data = Buffer.concat(pieces)
    pieces = []
    length = 0
    partNumber += 1
    return { partNumber, data, lastPart }
  }

  for await (const piece of bytes) {
    let rest = piece
    // Only a byte beyond a part shows that it is not the last.
    while (length + rest.byteLength > partSize) {
      const missing = partSize - length
      pieces.push(rest.subarray(0, missing))
      rest = rest.subarray(missing)
      yield cut(false)
    }
    pieces.push(rest)
    length += rest.byteLength
  }
  yield cut(true)
}
