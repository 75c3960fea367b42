import { Transform } from 'node:stream'
import { AppError } from '../errors.ts'
import type { ReceivedBytes } from '../memory/allocation.ts'

export interface ByteMeterOptions {
  /** Where the stream begins in the file. */
  readonly offset?: number
  /** A longer file fails the stream with `file_too_large`. */
  readonly maxBytes: number
  readonly digests: readonly ({ update(chunk: Uint8Array): unknown } | undefined)[]
  /** Called with the new end before more bytes pass, and awaited. Its error fails the stream. */
  readonly onBytes: (end: number) => Promise<void> | undefined
}

export interface ByteMeter extends ReceivedBytes {
  readonly stream: Transform
}

/** Counts, hashes and limits the bytes of a file, and buffers nothing. */
export function createByteMeter(options: ByteMeterOptions): ByteMeter {
  const { offset = 0, maxBytes, digests, onBytes } = options
  let bytes = offset
  let isCovering = false
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const end = bytes + chunk.length
      if (end > maxBytes) {
        done(fileTooLarge(maxBytes))
        return
      }
      bytes = end
      for (const digest of digests) digest?.update(chunk)
      const covered = onBytes(end)
      if (covered === undefined) {
        done(null, chunk)
        return
      }
      isCovering = true
      const pass = (): void => {
        isCovering = false
        done(null, chunk)
      }
      covered.then(pass, done)
    },
  })
  return {
    stream,
    get bytes() {
      return bytes
    },
    get isAwaited() {
      if (isCovering || stream.writableEnded) return false
      return stream.readableLength < stream.readableHighWaterMark
    },
  }
}

export function fileTooLarge(maxBytes: number): AppError {
  return new AppError('file_too_large', 'The file is larger than the maximum file size.', {
    facts: { max_file_size: maxBytes },
  })
}
