import { bytesSource, chunksOf, type Source, type StreamContent } from './source.ts'

/** A section of the content that is kept until it has arrived. */
export interface Part {
  readonly source: Source
  /** Whether the content ends with this part. */
  readonly isLast: boolean
}

export interface PartReader {
  /** Each part overwrites the one before. */
  next(): Promise<Part>
  /** Cancels a stream that was not read to its end. */
  end(): void
}

export interface PartReaderOptions {
  readonly size: number
  readonly signal: AbortSignal | undefined
}

/** Cuts a stream into parts of exactly `size` bytes, but for the last one, which can be empty. */
export function createPartReader(
  content: StreamContent,
  { size, signal }: PartReaderOptions,
): PartReader {
  const chunks = chunksOf(content)
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
  /** Not awaited, because a stream may never end. */
  function end(): void {
    chunks.return?.().catch(() => undefined)
  }
  return { next, end }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  let abort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
