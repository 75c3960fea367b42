import { Readable } from 'node:stream'
import type { IncomingFile } from '../../../src/core/uploads/store-content.ts'

/** A file on its way in. Unless `size` says otherwise, its size is announced exactly, but it may be larger. */
export function incomingFile(
  content: string | Uint8Array,
  options: Partial<IncomingFile> = {},
): IncomingFile {
  const bytes = Buffer.from(content)
  return {
    content: contentOf([bytes]),
    size: { min: bytes.byteLength, announced: bytes.byteLength, max: Infinity },
    end: () => Promise.resolve(),
    ...options,
  }
}

/** What a request without a length announces. */
export const UNKNOWN_SIZE: IncomingFile['size'] = { min: 0, announced: undefined }

/** A content that comes as these chunks. */
export function contentOf(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Readable {
  return Readable.from(chunks, { objectMode: false })
}

/** A content that fails with `error` after some bytes. */
export function brokenContent(bytes: string, error: Error): Readable {
  return contentOf(
    (async function* () {
      yield Buffer.from(bytes)
      throw error
    })(),
  )
}

/** A content that stalls after its first bytes until `go` is called, and then ends with `rest`. */
export function stalledContent(
  first: string,
  rest: string,
): { readonly content: Readable; readonly stalled: Promise<void>; readonly go: () => void } {
  const stalled = Promise.withResolvers<void>()
  const pending = [Buffer.from(first)]
  const content = new Readable({
    read() {
      const next = pending.shift()
      if (next === undefined) stalled.resolve()
      else this.push(next)
    },
  })
  function go(): void {
    content.push(Buffer.from(rest))
    content.push(null)
  }
  return { content, stalled: stalled.promise, go }
}
