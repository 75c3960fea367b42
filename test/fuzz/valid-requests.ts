import type { Random } from '../simulation/plan/random.ts'
import { filePart, httpChunk, multipartBody } from '../support/http/multipart-body.ts'

/** What the requests of a case are made of. */
export interface Subject {
  readonly userId: string
  /** The `Cookie` header of the user's requests. */
  readonly cookie: string
  readonly adminToken: string
  /** A file that is there before the case, and its etag. */
  readonly kept: { readonly name: string; readonly etag: string }
  /** A name that only this case uses. */
  readonly fresh: string
}

export interface ValidRequest {
  readonly listener: 'public' | 'admin'
  readonly bytes: Buffer
}

/** One well-formed request of any operation of either listener. */
export function pickRequest(subject: Subject, random: Random): ValidRequest {
  if (random.chance(0.12)) return { listener: 'admin', bytes: adminRequest(subject, random) }
  const bytes = random.chance(0.5) ? formRequest(subject, random) : otherRequest(subject, random)
  return { listener: 'public', bytes }
}

/** A download of the kept file, by whose content an answer can be told from all others. */
export function downloadOf({ cookie, kept }: Subject): Buffer {
  return message({ line: `GET /users/me/repo/${kept.name}`, headers: [`Cookie: ${cookie}`] })
}

interface Message {
  readonly line: string
  readonly headers?: readonly string[]
  readonly body?: Buffer
  /** Whether the body goes in chunks. */
  readonly chunked?: Random
}

function message({ line, headers = [], body, chunked }: Message): Buffer {
  const framing =
    body === undefined
      ? []
      : [chunked === undefined ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked']
  const head = [`${line} HTTP/1.1`, 'Host: localhost', ...headers, ...framing, '', '']
  const sent = body === undefined || chunked === undefined ? body : chunks(body, chunked)
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), sent ?? Buffer.alloc(0)])
}

function chunks(body: Buffer, random: Random): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(body.length)
    pieces.push(httpChunk(body.subarray(at, at + size)))
    at += size
  }
  return Buffer.concat([...pieces, httpChunk('')])
}

function formRequest(subject: Subject, random: Random): Buffer {
  const boundary = random.pick([
    'XBOUNDARY',
    '----WebKitFormBoundary7MA4YWxkTrZu0gW',
    'a',
    "'()+_,-./:=?",
  ])
  const field = {
    name: random.pick(['visibility', 'x', '__proto__']),
    content: random.pick(['users', 'private', 'y']),
  }
  const file = filePart(someContent(random))
  const parts = random.pick([
    [file],
    [file],
    [field, file],
    [file, field],
    [{ name: 'a', content: '' }, file, field],
  ])
  const options = {
    boundary,
    ...(random.chance(0.1) && { preamble: 'preamble' }),
    ...(random.chance(0.1) && { epilogue: '\r\nepilogue' }),
  }
  return message({
    line: `POST /users/me/repo/${someName(subject, random)}`,
    headers: [
      `Cookie: ${subject.cookie}`,
      `Content-Type: multipart/form-data; boundary=${random.pick([boundary, `"${boundary}"`])}`,
      ...someCondition(subject, random),
    ],
    body: multipartBody(parts, options),
    ...(random.chance(0.4) && { chunked: random }),
  })
}

function otherRequest(subject: Subject, random: Random): Buffer {
  const { cookie, kept, userId } = subject
  const own = random.chance(0.9) ? [`Cookie: ${cookie}`] : []
  const keptPath = `/users/${random.pick(['me', userId])}/repo/${kept.name}`
  const json = [...own, 'Content-Type: application/json']
  return random.pick<() => Buffer>([
    () =>
      message({
        line: `PUT /users/me/repo/${someName(subject, random)}`,
        headers: [...own, ...someCondition(subject, random)],
        body: someContent(random),
        ...(random.chance(0.4) && { chunked: random }),
      }),
    () => message({ line: `GET ${keptPath}`, headers: [...own, ...someReading(subject, random)] }),
    () => message({ line: `HEAD ${keptPath}`, headers: [...own, ...someReading(subject, random)] }),
    () => message({ line: `DELETE /users/me/repo/${someName(subject, random)}`, headers: own }),
    () =>
      message({
        line: `PATCH /users/me/repo/${kept.name}`,
        headers: json,
        body: Buffer.from(
          random.pick([`{"name":"${subject.fresh}"}`, '{"visibility":"public"}', '{}']),
        ),
      }),
    () => message({ line: `GET /users/me/repo?prefix=k&order=-size&limit=3`, headers: own }),
    () => message({ line: `GET /users/${userId}/repo`, headers: own }),
    () => message({ line: 'GET /users/me/capacity', headers: own }),
    () =>
      message({
        line: `OPTIONS ${keptPath}`,
        headers: ['Origin: http://a.test', 'Access-Control-Request-Method: PUT'],
      }),
    () => message({ line: `OPTIONS *` }),
    () => message({ line: `GET ${random.pick(['/livez', '/readyz', '/openapi.json', '/'])}` }),
  ])()
}

function adminRequest({ adminToken }: Subject, random: Random): Buffer {
  const headers = random.chance(0.9) ? [`Authorization: Bearer ${adminToken}`] : []
  const json = [...headers, 'Content-Type: application/json']
  const user = '/admin/users/scratch'
  const reads = [
    '/admin/users?limit=2',
    user,
    `${user}/devices`,
    `${user}/grants`,
    `${user}/access-tokens`,
    '/metrics',
    '/openapi.json',
  ] as const
  return random.pick<() => Buffer>([
    () => message({ line: `GET ${random.pick(reads)}`, headers }),
    () => message({ line: `PUT ${user}`, headers }),
    () =>
      message({
        line: `PATCH ${user}`,
        headers: json,
        body: Buffer.from('{"status":"suspended"}'),
      }),
    () =>
      message({
        line: `POST ${user}/access-tokens`,
        headers: json,
        body: Buffer.from('{"label":"a","expires_in":60}'),
      }),
    () =>
      message({
        line: `PUT ${user}/devices/d1`,
        headers: json,
        body: Buffer.from('{"model":"m","bytes":1000}'),
      }),
    () => message({ line: `DELETE ${user}/devices/d1`, headers }),
    () =>
      message({
        line: `PUT ${user}/grants/promotion/g1`,
        headers: json,
        body: Buffer.from('{"bytes":5,"ends_at":"2030-01-01T00:00:00Z"}'),
      }),
  ])()
}

function someName({ kept, fresh }: Subject, random: Random): string {
  const query = random.chance(0.1) ? '?visibility=public' : ''
  return `${random.chance(0.4) ? kept.name : fresh}${query}`
}

/** Small mostly; now and then larger than what one read of a socket brings. */
function someContent(random: Random): Buffer {
  const size = random.chance(0.05) ? 70_000 + random.below(100_000) : random.below(300)
  const unit = random.pick(['new', '\r\n', '--XBOUNDARY', '\r\n--', '\0\u00ff', 'a\r\nb'])
  return Buffer.from(unit.repeat(Math.ceil(size / unit.length)), 'latin1').subarray(0, size)
}

function someCondition({ kept }: Subject, random: Random): string[] {
  if (random.chance(0.7)) return []
  return [
    random.pick([
      'If-None-Match: *',
      `If-Match: "${kept.etag}"`,
      'If-Match: "other"',
      'Expect: 100-continue',
      'Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:',
      'Sec-Fetch-Site: same-origin',
    ]),
  ]
}

function someReading({ kept }: Subject, random: Random): string[] {
  if (random.chance(0.3)) return []
  return [
    random.pick([
      'Range: bytes=0-4',
      'Range: bytes=-5',
      'Range: bytes=3-',
      'Range: bytes=0-1,3-4',
      `If-None-Match: "${kept.etag}"`,
      `If-Range: "${kept.etag}"\r\nRange: bytes=1-2`,
      'If-Modified-Since: Sat, 21 Nov 2020 00:00:00 GMT',
      'Want-Repr-Digest: sha-256=1',
      'Accept: text/html;q=0.1',
    ]),
  ]
}
