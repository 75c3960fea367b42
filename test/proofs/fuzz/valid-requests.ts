import { type ApiOperation, OPERATIONS } from '../../catalogue/api-operations.ts'
import { type Scene, withoutIds } from '../../catalogue/scene.ts'
import type { Random } from '../simulation/plan/random.ts'
import { filePart, multipartBody } from '../../support/http/multipart-body.ts'
import { message, someContent } from './message.ts'
import { resumableRequest } from './resumable/resumable-requests.ts'
import { someCondition, spelled, spellings, type Subject } from './subject.ts'

export interface ValidRequest {
  readonly listener: 'public' | 'admin'
  readonly bytes: Buffer
}

/** One well-formed request of any operation of either listener. */
export function pickRequest(subject: Subject, random: Random): ValidRequest {
  if (random.chance(0.2)) return anyOperation(subject, random)
  if (random.chance(0.12)) return { listener: 'admin', bytes: adminRequest(subject, random) }
  const build = random.pick([formRequest, formRequest, otherRequest, resumableRequest])
  return { listener: 'public', bytes: build(subject, random) }
}

/** A download of the kept file, by whose content an answer can be told from all others. */
export function downloadOf({ cookie, kept }: Subject): Buffer {
  const [spelling] = spellings(kept.name)
  return message({ line: `GET /users/me/repo/${spelling}`, headers: [`Cookie: ${cookie}`] })
}

/** Of the catalogue, but for those that open a session. */
const OPERATIONS_TO_FUZZ = OPERATIONS.filter(({ id }) => !id.endsWith('Session'))

function anyOperation(subject: Subject, random: Random): ValidRequest {
  const operation = OPERATIONS_TO_FUZZ[random.below(OPERATIONS_TO_FUZZ.length)]
  if (operation === undefined) throw new TypeError('The catalogue has no operation')
  const { listener, id, sent } = operation
  const { method = 'GET', path, headers = {}, body } = sent(sceneOf(subject, operation))
  const { cookie, adminToken } = subject
  const credentials =
    listener === 'public' ? `Cookie: ${cookie}` : `Authorization: Bearer ${adminToken}`
  const own = random.chance(0.95) ? [credentials] : []
  const lines = Object.entries(headers).map((pair) => pair.join(': '))
  const bytes = message({
    line: `${method} ${path}`,
    headers: [...own, ...lines],
    ...((body !== undefined || id.startsWith('postTo')) && { body: Buffer.from(body ?? '') }),
  })
  return { listener, bytes }
}

/** Names nothing that the judge does not know. */
function sceneOf(
  { userId, cookie, adminToken, upload, fresh }: Subject,
  { listener, id }: ApiOperation,
): Scene {
  const scratch = id === 'deleteUser' ? 'scratch-2' : 'scratch'
  return {
    ...withoutIds({
      userId: listener === 'public' ? userId : scratch,
      token: cookie.slice('access_token='.length),
      adminToken,
      // A batch does not tell the judge what it deletes.
      file: id === 'changeFiles' ? 'none' : fresh,
    }),
    upload: upload.id,
  }
}

function formRequest(subject: Subject, random: Random): Buffer {
  const boundary = random.pick([
    'XBOUNDARY',
    '----WebKitFormBoundary7MA4YWxkTrZu0gW',
    'a',
    "'()+_,-./:=?",
  ])
  const field = {
    name: random.pick(['visibility', 'metadata', 'x', '__proto__']),
    content: random.pick(['users', 'private', '{"a":"b"}', 'y']),
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
  const keptPath = `/users/${random.pick(['me', userId])}/repo/${spelled(kept.name, random)}`
  const json = [...own, 'Content-Type: application/json']
  return random.pick<() => Buffer>([
    () =>
      message({
        line: `PUT /users/me/repo/${someName(subject, random)}`,
        headers: [...own, ...someCondition(subject, random), ...someDescription(random)],
        body: someContent(random),
        ...(random.chance(0.4) && { chunked: random }),
      }),
    () =>
      message({
        line: `GET ${keptPath}${random.pick(['', '', '?inline=true'])}`,
        headers: [...own, ...someReading(subject, random)],
      }),
    () => message({ line: `HEAD ${keptPath}`, headers: [...own, ...someReading(subject, random)] }),
    () => message({ line: `DELETE /users/me/repo/${someName(subject, random)}`, headers: own }),
    () =>
      message({
        line: `PATCH /users/me/repo/${spelled(kept.name, random)}`,
        headers: json,
        body: Buffer.from(
          random.pick([
            `{"name":"${subject.fresh}"}`,
            '{"visibility":"public"}',
            '{"keep":true}',
            '{"media_type":"image/png","metadata":{"a":"b","c":null}}',
            '{}',
          ]),
        ),
      }),
    () => message({ line: `GET /users/me/repo${random.pick(LISTINGS)}`, headers: own }),
    () => message({ line: 'GET /users/me/access-tokens?limit=2', headers: own }),
    () =>
      message({
        line: `DELETE /users/me/access-tokens/${random.pick(['a', '%00'])}`,
        headers: own,
      }),
    () =>
      message({
        line: 'POST /users/me/access-tokens',
        headers: json,
        body: Buffer.from(
          random.pick([
            '{"expires_in":1,"scope":{"actions":["read"],"prefix":"k"}}',
            '{"scope":{"actions":["read","write"]}}',
            '{"scope":{"device_id":"none"}}',
          ]),
        ),
      }),
    () => message({ line: 'GET /users/me/links?limit=2', headers: own }),
    () => message({ line: `DELETE /users/me/links/${random.pick(['a', '%00'])}`, headers: own }),
    () =>
      message({
        line: `PATCH /users/me/links/${random.pick(['a', '%00'])}`,
        headers: json,
        body: Buffer.from(
          random.pick([
            '{"label":"b","expires_at":"2030-01-01T00:00:00Z","max_uses":2,"password":"right"}',
            '{"expires_at":null,"max_uses":null,"password":null,"max_bytes":null,"max_files":null}',
            '{"max_bytes":1000,"max_files":0}',
            '{}',
          ]),
        ),
      }),
    () =>
      message({ line: `POST /users/me/links/${random.pick(['a', '%00'])}/secret`, headers: own }),
    () =>
      message({
        line: 'POST /users/me/links',
        headers: json,
        body: Buffer.from(
          random.pick([
            '{"kind":"download","prefix":"k","expires_in":1}',
            '{"kind":"drop","prefix":"","max_uses":0}',
            '{"kind":"drop","prefix":"d/","expires_in":1,"max_bytes":1000,"max_files":2}',
            '{"kind":"download","prefix":"k","max_bytes":1000}',
            '{"kind":"drop"}',
          ]),
        ),
      }),
    () =>
      message({
        line: `${random.pick(['GET', 'PUT', 'POST', 'HEAD'])} /links/${random.pick(SECRETS)}${random.pick(['', '/a', '/a/b/', '/../a', '?format=zip', '?format=tar', '/uploads/', '/uploads/a'])}`,
        headers: random.pick([[], ['Accept: text/html'], ['Authorization: Basic YTpi']]),
      }),
    () => message({ line: `GET /users/me/changes${random.pick(CURSORS)}`, headers: own }),
    () => message({ line: `GET /users/me/history${random.pick(PAST_FILES)}`, headers: own }),
    () =>
      message({
        line: `${random.pick(['GET', 'HEAD', 'DELETE'])} /users/me/history/${random.pick(VERSIONS)}`,
        headers: own,
      }),
    () =>
      message({
        line: `POST /users/me/history/${random.pick(VERSIONS)}/restore`,
        headers: json,
        body: Buffer.from(random.pick(['', '{}', '{"name":"k","overwrite":true}'])),
      }),
    () =>
      message({
        line: 'POST /users/me/batch',
        headers: json,
        body: Buffer.from(random.pick(BATCHES)),
      }),
    () =>
      message({
        line: `OPTIONS ${keptPath}`,
        headers: ['Origin: http://a.test', 'Access-Control-Request-Method: PUT'],
      }),
    () => message({ line: `OPTIONS *` }),
    () => message({ line: `GET ${random.pick(['/livez', '/readyz', '/openapi.json', '/'])}` }),
  ])()
}

const CURSORS = ['', '?limit=2', '?cursor=AAAA&wait=0', '?cursor=%00'] as const

const PAST_FILES = ['', '?limit=2', '?prefix=k&limit=1', '?name=k'] as const

/** Of no version, so that what is restored is no file that the judge does not know. */
const VERSIONS = ['019ab1c2-7d3e-7c41-9a55-0f6d1b2c3d4e', 'a', '%00'] as const

/** They change no file, since the judge would not know. */
const LISTINGS = [
  '?prefix=k&order=-size&limit=3',
  '?prefix=kept/&delimiter=/&limit=3',
  '?prefix=f-1%2F&delimiter=%2F',
  '?device_id=d1&order=-updated_at&limit=3',
  '?device_id=%00',
] as const

const BATCHES = [
  '{"operations":[{"op":"delete","name":"none","ignore_missing":true}]}',
  '{"operations":[{"op":"rename","name":"none","new_name":"k","if_match":"*","overwrite":true}]}',
  '{"operations":[{"op":"update","name":"none","keep":true,"ignore_missing":true},{"op":"restore","version":"a"}]}',
  '{"operations":[{"op":"rename","prefix":"none/","new_prefix":"k/","ignore_missing":true},{"op":"delete","prefix":"none/"}]}',
  '{"operations":[{"op":"update","name":"none","expires_at":"2100-01-01T00:00:00Z","visibility":"users"}]}',
  '{"operations":[{"op":"rename","prefix":"none/","new_prefix":"moved/","overwrite":true}]}',
  '{"operations":[{"op":"delete","prefix":"none/a/","ignore_missing":true},{"op":"delete","prefix":"none/"}]}',
] as const

const SECRETS = [`crl_${'A'.repeat(43)}`, 'none', '%00'] as const

function adminRequest({ adminToken }: Subject, random: Random): Buffer {
  const headers = random.chance(0.9) ? [`Authorization: Bearer ${adminToken}`] : []
  const json = [...headers, 'Content-Type: application/json']
  const user = '/admin/users/scratch'
  const reads = [
    '/admin/users?limit=2',
    `${user}/files?prefix=k&delimiter=-&limit=3`,
    '/admin/audit?user_id=scratch&limit=3',
    '/metrics',
  ] as const
  return random.pick<() => Buffer>([
    () => message({ line: `GET ${random.pick(reads)}`, headers }),
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
        body: Buffer.from(
          random.pick([
            '{"model":"m","bytes":1000}',
            '{"label":"Gate \u00fc","share":"own","bytes":1000}',
            '{"label":null,"share":1000}',
            '{"share":"most"}',
          ]),
        ),
      }),
    () => message({ line: `DELETE ${user}/files/${random.pick(['a', '%00'])}`, headers }),
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
  return `${spelled(random.chance(0.4) ? kept.name : fresh, random)}${query}`
}

function someDescription(random: Random): string[] {
  if (random.chance(0.6)) return []
  const metadata = random.pick(['{"a":"b"}', String.raw`{"\u00e9":""}`, '{}'])
  return [
    `Content-Type: ${random.pick(['image/png', 'text/plain; charset="utf-8"', 'a'])}`,
    `File-Metadata: ${metadata}`,
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
