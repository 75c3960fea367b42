/**
 * A request that both servers get; `<etag>`, `<value>` (without quotes), `<date>`, `<before>` and `<after>` are each
 * server's own.
 */
interface Request {
  readonly title: string
  /** 1000 bytes, or none. */
  readonly file?: 'full' | 'empty'
  readonly method?: 'GET' | 'HEAD'
  readonly headers: Readonly<Record<string, string>>
}

const MATCH = 'If-Match'
const NONE = 'If-None-Match'
const SINCE = 'If-Modified-Since'
const UNMODIFIED = 'If-Unmodified-Since'
const IF_RANGE = 'If-Range'
const RANGE = 'Range'

export const REQUESTS: readonly Request[] = [
  ...both({}),
  // One condition.
  ...both({ [MATCH]: '<etag>' }),
  ...both({ [MATCH]: '"other"' }),
  ...both({ [MATCH]: '*' }),
  ...both({ [MATCH]: '"other", <etag>' }),
  ...both({ [MATCH]: 'W/<etag>' }),
  ...both({ [NONE]: '<etag>' }),
  ...both({ [NONE]: '"other"' }),
  ...both({ [NONE]: '*' }),
  ...both({ [NONE]: '"other" , <etag>' }),
  ...both({ [NONE]: 'W/<etag>' }),
  ...both({ [SINCE]: '<date>' }),
  ...both({ [SINCE]: '<before>' }),
  ...both({ [SINCE]: '<after>' }),
  ...both({ [SINCE]: 'yesterday' }),
  ...both({ [UNMODIFIED]: '<date>' }),
  ...both({ [UNMODIFIED]: '<before>' }),
  ...both({ [UNMODIFIED]: '<after>' }),
  ...both({ [UNMODIFIED]: 'yesterday' }),
  // Two and more: which outranks which.
  ...both({ [MATCH]: '<etag>', [UNMODIFIED]: '<before>' }),
  ...both({ [MATCH]: '"other"', [UNMODIFIED]: '<date>' }),
  ...both({ [NONE]: '"other"', [SINCE]: '<after>' }),
  ...both({ [NONE]: '<etag>', [SINCE]: '<before>' }),
  ...both({ [MATCH]: '"other"', [NONE]: '<etag>' }),
  ...both({ [MATCH]: '<etag>', [NONE]: '<etag>' }),
  ...both({ [MATCH]: '<etag>', [NONE]: '"other"' }),
  ...both({ [MATCH]: '<etag>', [SINCE]: '<date>' }),
  ...both({ [UNMODIFIED]: '<date>', [SINCE]: '<date>' }),
  ...both({ [UNMODIFIED]: '<before>', [SINCE]: '<date>' }),
  ...both({ [UNMODIFIED]: '<before>', [NONE]: '<etag>' }),
  // Malformed tags.
  ...both({ [MATCH]: '<value>' }),
  ...both({ [NONE]: '<value>' }),
  // One range.
  ...both({ [RANGE]: 'bytes=0-0' }),
  get({ [RANGE]: 'bytes=10-19' }),
  get({ [RANGE]: 'bytes=999-' }),
  get({ [RANGE]: 'bytes=0-' }),
  get({ [RANGE]: 'bytes=0-999' }),
  get({ [RANGE]: 'bytes=900-5000' }),
  get({ [RANGE]: 'bytes=-1' }),
  get({ [RANGE]: 'bytes=-1000' }),
  get({ [RANGE]: 'bytes=-5000' }),
  get({ [RANGE]: 'Bytes=0-0' }),
  get({ [RANGE]: 'bytes= 5-6' }),
  // Ranges with no byte of the file.
  ...both({ [RANGE]: 'bytes=1000-' }),
  get({ [RANGE]: 'bytes=1000-1000' }),
  get({ [RANGE]: 'bytes=5000-6000' }),
  get({ [RANGE]: 'bytes=-0' }),
  get({ [RANGE]: `bytes=${'9'.repeat(30)}-` }),
  // Several, other units, malformed.
  get({ [RANGE]: 'bytes=0-1,5-6' }),
  get({ [RANGE]: 'bytes=5000-,6000-' }),
  get({ [RANGE]: 'items=0-1' }),
  get({ [RANGE]: 'bytes' }),
  get({ [RANGE]: 'bytes=' }),
  get({ [RANGE]: 'bytes=x-y' }),
  get({ [RANGE]: 'bytes=5-2' }),
  get({ [RANGE]: 'bytes=5' }),
  get({ [RANGE]: 'bytes=,0-0' }),
  // With conditions.
  get({ [RANGE]: 'bytes=0-9', [MATCH]: '<etag>' }),
  get({ [RANGE]: 'bytes=0-9', [MATCH]: '"other"' }),
  get({ [RANGE]: 'bytes=0-9', [NONE]: '<etag>' }),
  get({ [RANGE]: 'bytes=0-9', [NONE]: '"other"' }),
  get({ [RANGE]: 'bytes=0-9', [SINCE]: '<date>' }),
  get({ [RANGE]: 'bytes=0-9', [UNMODIFIED]: '<before>' }),
  get({ [RANGE]: 'bytes=1000-', [MATCH]: '"other"' }),
  get({ [RANGE]: 'bytes=1000-', [NONE]: '<etag>' }),
  get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: '<etag>' }),
  get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: '"other"' }),
  get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: 'W/<etag>' }),
  get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: '<value>' }),
  get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: '<date>' }),
  get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: '<before>' }),
  get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: '<after>' }),
  get({ [RANGE]: 'bytes=1000-', [IF_RANGE]: '"other"' }),
  get({ [RANGE]: 'bytes=1000-', [IF_RANGE]: '<etag>' }),
  get({ [IF_RANGE]: '"other"' }),
  // An empty file.
  empty({}),
  empty({ [RANGE]: 'bytes=0-0' }),
  empty({ [RANGE]: 'bytes=0-' }),
  empty({ [RANGE]: 'bytes=5-' }),
  empty({ [RANGE]: 'bytes=-5' }),
  empty({ [RANGE]: 'bytes=-0' }),
  empty({ [NONE]: '<etag>' }),
]

interface Difference {
  readonly why: string
  readonly ours: { readonly status: number; readonly range?: string }
  readonly theirs: { readonly status: number; readonly range?: string }
}

/** Where the answers differ from those of nginx 1.22, by the request's title. */
export const DIFFERENCES: Readonly<Record<string, Difference>> = {
  ...each(both({ [UNMODIFIED]: 'yesterday' }), {
    why: 'An invalid date must be ignored (section 13.1.4); nginx takes it for one that fails.',
    ours: { status: 200 },
    theirs: { status: 412 },
  }),
  ...each(both({ [MATCH]: '<etag>', [UNMODIFIED]: '<before>' }), {
    why: 'With If-Match the date must be ignored (section 13.1.4); nginx demands both.',
    ours: { status: 200 },
    theirs: { status: 412 },
  }),
  ...each(both({ [NONE]: '<etag>', [SINCE]: '<before>' }), {
    why: 'With If-None-Match the date must be ignored (section 13.1.3); nginx demands both.',
    ours: { status: 304 },
    theirs: { status: 200 },
  }),
  ...each(both({ [MATCH]: '<value>' }), {
    why: 'A tag without quotes is told as the mistake that it is; nginx compares it as text.',
    ours: { status: 400 },
    theirs: { status: 412 },
  }),
  ...each(both({ [NONE]: '<value>' }), {
    why: 'A tag without quotes is told as the mistake that it is; nginx compares it as text.',
    ours: { status: 400 },
    theirs: { status: 200 },
  }),
  ...each([head({ [RANGE]: 'bytes=0-0' })], {
    why: 'Range must be ignored but for GET (section 14.2); nginx answers HEAD with it.',
    ours: { status: 200 },
    theirs: { status: 206, range: 'bytes 0-0/1000' },
  }),
  ...each([head({ [RANGE]: 'bytes=1000-' })], {
    why: 'Range must be ignored but for GET (section 14.2); nginx answers HEAD with it.',
    ours: { status: 200 },
    theirs: { status: 416, range: 'bytes */1000' },
  }),
  ...each([get({ [RANGE]: 'bytes=0-1,5-6' })], {
    why: 'Several ranges get the whole file (section 14.2 lets a server); nginx sends multipart/byteranges.',
    ours: { status: 200 },
    theirs: { status: 206 },
  }),
  ...each(
    [
      get({ [RANGE]: 'bytes=5000-,6000-' }),
      get({ [RANGE]: 'bytes=x-y' }),
      get({ [RANGE]: 'bytes=5-2' }),
      get({ [RANGE]: 'bytes=5' }),
    ],
    {
      why: 'What is several or malformed is ignored; nginx refuses it. Section 14.2 lets a server do either.',
      ours: { status: 200 },
      theirs: { status: 416, range: 'bytes */1000' },
    },
  ),
  ...each([get({ [RANGE]: 'bytes=,0-0' })], {
    why: 'An empty element of a list must be accepted (section 5.6.1.2); nginx does not know them.',
    ours: { status: 206, range: 'bytes 0-0/1000' },
    theirs: { status: 416, range: 'bytes */1000' },
  }),
  ...each([get({ [RANGE]: 'bytes=0-9', [IF_RANGE]: '<date>' })], {
    why: 'Two contents of one second have one date, so it is no strong validator (section 8.8.2.2).',
    ours: { status: 200 },
    theirs: { status: 206, range: 'bytes 0-9/1000' },
  }),
  ...each([empty({ [RANGE]: 'bytes=0-0' }), empty({ [RANGE]: 'bytes=0-' })], {
    why: 'No range with a first byte can be satisfied by an empty file (section 14.1.2).',
    ours: { status: 416, range: 'bytes */0' },
    theirs: { status: 200 },
  }),
  ...each([empty({ [RANGE]: 'bytes=-0' })], {
    why: 'A suffix of no bytes can not be satisfied (section 14.1.2).',
    ours: { status: 416, range: 'bytes */0' },
    theirs: { status: 200 },
  }),
}

function each(requests: readonly Request[], difference: Difference): Record<string, Difference> {
  return Object.fromEntries(requests.map(({ title }) => [title, difference]))
}

function get(headers: Request['headers']): Request {
  return { title: titleOf('GET', headers), headers }
}

function both(headers: Request['headers']): Request[] {
  return [get(headers), head(headers)]
}

function head(headers: Request['headers']): Request {
  return { title: titleOf('HEAD', headers), method: 'HEAD', headers }
}

function empty(headers: Request['headers']): Request {
  return { title: titleOf('GET empty', headers), file: 'empty', headers }
}

function titleOf(what: string, headers: Request['headers']): string {
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`)
  return [what, ...lines].join('; ')
}
