/** A request as the strict reading of the bytes of a connection finds it. Its text is one character a byte. */
export interface ReadRequest {
  readonly method: string
  readonly target: string
  readonly version: string
  /** In their order; names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Whether all of its body is there. */
  readonly isWhole: boolean
}

export interface ReadConnection {
  readonly requests: readonly ReadRequest[]
  /** What comes behind the last request: nothing, the beginning of a head, or what is no request at all. */
  readonly rest: 'nothing' | 'partial' | 'malformed'
  /**
   * The methods of the requests in order. Of one that is no whole request it is `HEAD?` where it begins as a HEAD does.
   */
  readonly methods: readonly string[]
}

/**
 * Reads the bytes of a connection as RFC 9112 has them, and takes nothing that two readers could read in two ways.
 * Shares no code with the service: what the service answers with success has to be a request here.
 */
export function readRequests(bytes: Buffer): ReadConnection {
  const text = bytes.toString('latin1')
  const requests: ReadRequest[] = []
  let at = 0
  const end = (rest: ReadConnection['rest']): ReadConnection => {
    const methods = requests.map(({ method }) => method)
    if (text.startsWith('HEAD', at)) methods.push('HEAD?')
    return { requests, rest, methods }
  }
  for (;;) {
    // Empty lines before a request are no part of it (RFC 9112 section 2.2).
    while (text[at] === '\r' || text[at] === '\n') at += 1
    if (at >= text.length) return end('nothing')
    const headEnd = text.indexOf('\r\n\r\n', at)
    if (headEnd === -1) return end('partial')
    const head = readHead(text.slice(at, headEnd))
    const body = head === undefined ? undefined : readBody(text, { from: headEnd + 4, ...head })
    if (head === undefined || body === undefined) return end('malformed')
    requests.push({ ...head, body: Buffer.from(body.content, 'latin1'), isWhole: body.isWhole })
    at = body.isWhole ? body.end : text.length
    if (!body.isWhole) return end(body.isMalformed ? 'malformed' : 'nothing')
  }
}

/** The values of a header, one for each time that it is there. */
export function valuesOf({ headers }: Pick<ReadRequest, 'headers'>, name: string): string[] {
  return headers.filter(([known]) => known === name).map(([, value]) => value)
}

type Head = Omit<ReadRequest, 'body' | 'isWhole'>

// Several spaces between its words are allowed to be read as one (RFC 9112 section 3).
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) +([\x21-\x7e]+) +HTTP\/(\d\.\d)$/
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/

function readHead(text: string): Head | undefined {
  const [first = '', ...lines] = text.split('\r\n')
  const [, method, target, version] = REQUEST_LINE.exec(first) ?? []
  if (method === undefined || target === undefined || version === undefined) return undefined
  const headers = readHeaders(lines)
  return headers && { method, target, version, headers }
}

function readHeaders(lines: readonly string[]): Head['headers'] | undefined {
  const headers: (readonly [string, string])[] = []
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) return undefined
    headers.push([name.toLowerCase(), value])
  }
  return headers
}

interface Body {
  readonly content: string
  readonly end: number
  readonly isWhole: boolean
  readonly isMalformed: boolean
}

/** `undefined` where its length can be read in two ways, or in none. */
function readBody(text: string, { from, ...head }: { from: number } & Head): Body | undefined {
  const lengths = valuesOf(head, 'content-length')
  const codings = valuesOf(head, 'transfer-encoding')
  if (codings.length > 0) {
    const all = codings.flatMap((value) => value.toLowerCase().split(/[ \t]*,[ \t]*/))
    const isChunked = all.indexOf('chunked') === all.length - 1
    if (!isChunked || lengths.length > 0 || head.version !== '1.1') return undefined
    return readChunks(text, from)
  }
  const [length = '0'] = lengths
  if (lengths.length > 1 || !/^\d{1,19}$/.test(length)) return undefined
  const end = from + Number(length)
  return { content: text.slice(from, end), end, isWhole: end <= text.length, isMalformed: false }
}

const CHUNK_HEAD = /([0-9A-Fa-f]{1,12})(;[\t\x20-\x7e\x80-\xff]*)?\r\n/y

function readChunks(text: string, from: number): Body {
  let content = ''
  let at = from
  const cutOff = (isMalformed: boolean): Body => {
    return { content, end: text.length, isWhole: false, isMalformed }
  }
  for (;;) {
    CHUNK_HEAD.lastIndex = at
    const [line, digits] = CHUNK_HEAD.exec(text) ?? []
    // A line that has no end yet may become one.
    if (line === undefined || digits === undefined) return cutOff(text.includes('\n', at))
    const size = Number.parseInt(digits, 16)
    at += line.length
    if (size === 0) break
    content += text.slice(at, at + size)
    const end = text.slice(at + size, at + size + 2)
    if (end !== '\r\n') return cutOff(!'\r\n'.startsWith(end))
    at += size + 2
  }
  if (text.startsWith('\r\n', at)) return { ...cutOff(false), end: at + 2, isWhole: true }
  const end = text.indexOf('\r\n\r\n', at)
  if (end === -1) return cutOff(false)
  if (readHeaders(text.slice(at, end).split('\r\n')) === undefined) return cutOff(true)
  return { ...cutOff(false), end: end + 4, isWhole: true }
}
