import type { LoadBody } from '../measure/wrk.ts'

const BOUNDARY = 'bench-3f2a9c5e7d1b4860'

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

/** A form with one file and nothing else. */
export function formOf(content: Buffer): LoadBody {
  const head = [
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="file"; filename="file"',
    'Content-Type: application/octet-stream',
  ]
  return { before: `${head.join('\r\n')}\r\n\r\n`, content, after: `\r\n--${BOUNDARY}--\r\n` }
}
