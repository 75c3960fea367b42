import { createHash } from 'node:crypto'
import type { PartBuffer } from './part-buffer.ts'

/** Up to here it costs less to digest what was sent than to ask the store for its size. */
const MAX_DIGESTED_BYTES = 64 * 1024

/**
 * Whether an ETag is the content's MD5, as it is where a store does not encrypt with a key of its own ("Object" in the API
 * reference of S3): that says more than a size does. Where the content is large or MD5 forbidden, the answer is no.
 */
export function isMd5(etag: string, content: PartBuffer): boolean {
  if (content.byteLength > MAX_DIGESTED_BYTES) return false
  try {
    const md5 = createHash('md5')
    for (const piece of content.pieces) md5.update(piece)
    return etag === `"${md5.digest('hex')}"`
  } catch {
    return false
  }
}
