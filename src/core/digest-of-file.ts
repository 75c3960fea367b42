import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** SHA-256 in hexadecimal. */
export async function digestOfFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: BUFFER_BYTES })) {
    hash.update(chunk as Buffer)
  }
  return hash.digest('hex')
}

const BUFFER_BYTES = 1024 * 1024
