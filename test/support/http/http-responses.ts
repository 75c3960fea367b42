export interface RawResponse {
  readonly status: number
  /** Names in lower case; of repeated ones the last. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Whether all of it has come. */
  readonly whole: boolean
  /** Bytes of which it is known that they have yet to come. */
  readonly missing: number
}

/** Reads the answers, 1xx included, that a connection has brought so far; the last one may be incomplete. */
export function parseResponses(received: Buffer, { closed }: { closed: boolean }): RawResponse[] {
  const responses: RawResponse[] = []
  let rest = received
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n')
    if (headEnd === -1) break
    const { status, headers } = parseHead(rest.toString('latin1', 0, headEnd))
    const { body, length } = takeBody(rest.subarray(headEnd + 4), { status, headers, closed })
    const missing = Math.max(0, Number(headers['content-length'] ?? 0) - body.length)
    const whole = length !== undefined
    responses.push({ status, headers, body, whole, missing: whole ? 0 : missing })
    if (length === undefined) break
    rest = rest.subarray(headEnd + 4 + length)
  }
  return responses
}

interface Head {
  readonly status: number
  readonly headers: Record<string, string>
}

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n')
  const pairs = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(pairs) as Record<string, string>,
  }
}

/** `length` is what the body takes on the wire, or `undefined` while some of it is missing. */
function takeBody(
  rest: Buffer,
  { status, headers, closed }: Head & { closed: boolean },
): { body: Buffer; length: number | undefined } {
  if (status < 200 || status === 204 || status === 304) return { body: Buffer.alloc(0), length: 0 }
  if (headers['transfer-encoding'] === 'chunked') return takeChunked(rest)
  const length = headers['content-length']
  if (length === undefined) return { body: rest, length: closed ? rest.length : undefined }
  const whole = rest.length >= Number(length)
  return { body: rest.subarray(0, Number(length)), length: whole ? Number(length) : undefined }
}

function takeChunked(rest: Buffer): { body: Buffer; length: number | undefined } {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at)
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (lineEnd === -1 || end > rest.length)
      return { body: Buffer.concat(chunks), length: undefined }
    chunks.push(rest.subarray(lineEnd + 2, end - 2))
    at = end
    if (size === 0) return { body: Buffer.concat(chunks), length: at }
  }
}
