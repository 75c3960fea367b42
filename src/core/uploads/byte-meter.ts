import { createHash } from 'node:crypto'
import { Transform, type TransformCallback } from 'node:stream'
import { AppError } from '../errors.ts'

export interface ByteMeterOptions {
  /** Bytes that may pass; one more fails the stream with `file_too_large`. */
  readonly maxBytes: number
  /** Awaited before any byte beyond what was last reported passes; its error fails the stream. */
  readonly onBytes: (total: number) => Promise<void> | undefined
}

export interface ByteMeter {
  /** The stream to put between the content and the store. It passes bytes on unchanged and holds none of them. */
  readonly stream: Transform
  /** Bytes passed so far. */
  readonly bytes: () => number
  /** SHA-256 of all bytes that passed, 64 lower-case hexadecimal digits. Call it once, at the end. */
  readonly sha256: () => string
}

/** Makes a meter that counts, hashes and limits one content as it streams by. */
export function createByteMeter({ maxBytes, onBytes }: ByteMeterOptions): ByteMeter {
  const hash = createHash('sha256')
  let total = 0

  function transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    total += chunk.length
    if (total > maxBytes) {
      done(fileTooLarge(maxBytes))
      return
    }
    hash.update(chunk)
    const pending = onBytes(total)
    if (pending === undefined) done(null, chunk)
    else pending.then(() => done(null, chunk), done)
  }

  return {
    stream: new Transform({ transform }),
    bytes: () => total,
    sha256: () => hash.digest('hex'),
  }
}

export function fileTooLarge(maxBytes: number): AppError {
  return new AppError('file_too_large', 'The file is larger than this service takes.', {
    facts: { max_file_size: maxBytes },
  })
}
