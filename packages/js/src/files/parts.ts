import { unlessAborted } from '../http/abort.ts'
import { bytesSource, type Source } from './source.ts'

/** A section of the content that is kept until it has arrived. */
export interface Part {
  readonly source: Source
  /** Whether the content ends with this part. */
  readonly isLast: boolean
}

export interface PartReader {
  /** Each part overwrites the one before. */
  next(): Promise<Part>
}

export interface PartReaderOptions {
  readonly size: number
  readonly signal: AbortSignal | undefined
}

/** Cuts a stream into parts of exactly `size` bytes, but for the last one, which can be empty. */
export function createPartReader(
  chunks: AsyncIterator<Uint8Array, unknown>,
  { size, signal }: PartReaderOptions,
): PartReader {
  let buffer: Uint8Array | undefined
  /** What did not fit into the part before. */
  let rest: Uint8Array = new Uint8Array(0)

  async function next(): Promise<Part> {
    buffer ??= new Uint8Array(size)
    let filled = 0
    for (;;) {
      const taken = rest.subarray(0, size - filled)
      buffer.set(taken, filled)
      filled += taken.length
      rest = rest.subarray(taken.length)
      if (filled === size) return { source: bytesSource(buffer), isLast: false }
      const { done, value } = await unlessAborted(chunks.next(), signal)
      if (done === true) return { source: bytesSource(buffer.subarray(0, filled)), isLast: true }
      rest = value
    }
  }
  return { next }
}
