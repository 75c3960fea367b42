import type { IncomingHttpHeaders } from 'node:http'
import { invalidParameter } from '../../core/errors.ts'
import { type Metadata, parseMetadata } from '../../core/files/metadata.ts'

/** `undefined` without the header `File-Metadata`. Throws `invalid_parameter` as `parseMetadata` does. */
export function parseFileMetadata({
  'file-metadata': header,
}: IncomingHttpHeaders): Metadata | undefined {
  return header === undefined ? undefined : parseMetadata(textOf(header.toString()), NAME)
}

const NAME = 'File-Metadata'

/** Node.js reads each byte as a character; some clients send those of UTF-8. */
function textOf(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch (cause) {
    throw invalidParameter(NAME, `The header ${NAME} must be ASCII or UTF-8.`, cause)
  }
}
