import { createHash } from 'node:crypto'

/** A `GET` request to a version, and its answer. Later versions must give the same answer. */
export interface Exchange {
  readonly listener: 'public' | 'admin'
  readonly path: string
  /** `undefined` for a visitor. */
  readonly token?: string | undefined
  readonly answer: Answer
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON without what may change, or size and digest of other content. */
  readonly body: unknown
}

export async function ask(url: string, token?: string): Promise<Answer> {
  const reply = await fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} })
  const content = Buffer.from(await reply.arrayBuffer())
  const isJson = /^application\/(?:problem\+)?json/.test(reply.headers.get('content-type') ?? '')
  return {
    status: reply.status,
    headers: Object.fromEntries([...reply.headers].filter(([name]) => HEADERS.has(name))),
    body: isJson ? parseJson(content) : { size: content.length, sha256: digestOf(content) },
  }
}

const HEADERS = new Set(['content-disposition', 'content-type', 'etag', 'last-modified'])

/** Cursors may be of another form, and each request uses its token. The texts of problems are for people. */
const CHANGING = new Set([
  'changes_cursor',
  'detail',
  'last_used_at',
  'next_cursor',
  'request_id',
  'title',
])

function parseJson(content: Buffer): unknown {
  return JSON.parse(content.toString(), (name, value: unknown) =>
    CHANGING.has(name) ? undefined : value,
  )
}

export function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
