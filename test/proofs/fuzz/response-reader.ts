export interface ReadResponse {
  readonly status: number
  /** Names in lower case; of repeated ones all, with commas between them. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** Whether all of it has come. */
  readonly isWhole: boolean
}

export interface ReadAnswers {
  /** The final ones, in order; interim ones (1xx) are left out. */
  readonly responses: readonly ReadResponse[]
  readonly interim: number
  /** What is wrong with the bytes as answers, if anything is. */
  readonly fault: string | undefined
}

export interface AnswersOptions {
  /** Of the requests, in order: the answer to `HEAD` has no body, to `HEAD?` it may have one. */
  readonly methods: readonly string[]
  /** Whether no more bytes can come. */
  readonly isClosed: boolean
}

/** Reads what a connection has brought as answers, by RFC 9112 to the letter. */
export function readResponses(bytes: Buffer, { methods, isClosed }: AnswersOptions): ReadAnswers {
  const text = bytes.toString('latin1')
  const responses: ReadResponse[] = []
  let interim = 0
  let at = 0
  const so = (fault?: string): ReadAnswers => ({ responses, interim, fault })
  while (at < text.length) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end === -1) {
      return so(
        'HTTP/1.1 '.startsWith(text.slice(at, at + 9)) ? undefined : 'bytes that begin no answer',
      )
    }
    const head = readHead(text.slice(at, end))
    if (typeof head === 'string') return so(head)
    if (head.status < 200) {
      interim += 1
      at = end + 4
      continue
    }
    const method = methods[responses.length] ?? ''
    const body = readBody(text, { ...head, from: end + 4, method, isClosed })
    if (typeof body === 'string') return so(body)
    const content = Buffer.from(body.content, 'latin1')
    responses.push({ ...head, body: content, isWhole: body.end !== undefined })
    if (body.end === undefined) return so()
    at = body.end
  }
  return so()
}

type Head = Pick<ReadResponse, 'status' | 'headers'>

function readHead(text: string): Head | string {
  const [first = '', ...lines] = text.split('\r\n')
  const [, status] = /^HTTP\/1\.1 (\d{3}) [\t\x20-\x7e]*$/.exec(first) ?? []
  if (status === undefined) return 'a status line that is none'
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] =
      /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? []
    if (name === '') return 'a header that is none'
    const known = headers.get(name.toLowerCase())
    headers.set(name.toLowerCase(), known === undefined ? value : `${known}, ${value}`)
  }
  return { status: Number(status), headers }
}

interface Body {
  readonly content: string
  /** `undefined` while some of it is missing. */
  readonly end: number | undefined
}

function readBody(
  text: string,
  {
    from,
    status,
    headers,
    method,
    isClosed,
  }: Head & { from: number; method: string; isClosed: boolean },
): Body | string {
  const length = headers.get('content-length')
  const coding = headers.get('transfer-encoding')
  if (length !== undefined && coding !== undefined) return 'an answer with two lengths'
  if (status === 204 || status === 304) return { content: '', end: from }
  // What refuses a head before it is read can't know the method, and closes the connection, where more does no harm.
  const isUnclear = method === 'HEAD' && status >= 400 && headers.get('connection') === 'close'
  if (method === 'HEAD' && !isUnclear) return { content: '', end: from }
  if (method.startsWith('HEAD') && from === text.length) return { content: '', end: from }
  if (coding !== undefined)
    return coding === 'chunked' ? readChunks(text, from) : 'a coding that nobody asked for'
  if (length === undefined)
    return { content: text.slice(from), end: isClosed ? text.length : undefined }
  if (!/^\d{1,15}$/.test(length)) return 'a Content-Length that is no number'
  const end = from + Number(length)
  return { content: text.slice(from, end), end: end <= text.length ? end : undefined }
}

function readChunks(text: string, from: number): Body | string {
  let content = ''
  for (let at = from; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd === -1) return { content, end: undefined }
    const digits = text.slice(at, lineEnd)
    if (!/^[0-9A-Fa-f]{1,8}$/.test(digits)) return 'a chunk whose size is none'
    const size = Number.parseInt(digits, 16)
    const end = lineEnd + 2 + size
    content += text.slice(lineEnd + 2, end)
    if (text.length < end + 2) return { content, end: undefined }
    if (!text.startsWith('\r\n', end)) return 'a chunk that does not end where it says'
    if (size === 0) return { content, end: end + 2 }
    at = end + 2
  }
}
