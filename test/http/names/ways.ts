import { SPELLINGS } from '../../support/names/spellings.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import { FORM_TYPE } from '../fixture.ts'
import { base64, TUS } from '../resumable/tus-requests.ts'

/** What stands for a user, links and a past version in the requests of a table. */
export interface NamesScene {
  readonly userId: string
  /** Of a link for drops, and of one for downloads, both without a prefix. */
  readonly drop: string
  readonly download: string
  /** Of a file that was deleted. */
  readonly past: string
}

export interface NamedRequest {
  readonly listener: 'public' | 'admin'
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Without a token. */
  readonly isVisitor?: boolean
}

/** One way in which a name reaches the service, and the request that has the name there. */
export type Way = readonly [way: string, request: (name: string, scene: NamesScene) => NamedRequest]

const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Ways in which a name stands in the path, as it is spelled there. */
export const PATH_WAYS: readonly Way[] = [
  ...['GET', 'HEAD', 'DELETE'].map((method): Way => [
    `${method} of an own file`,
    (path) => own(method, path),
  ]),
  ['PUT of an own file', (path) => ({ ...own('PUT', path), body: 'x' })],
  ['PUT without content', (path) => ({ ...own('PUT', path), body: '' })],
  ['POST of an own file', (path) => ({ ...own('POST', path), ...form() })],
  ['PATCH of an own file', (path) => ({ ...own('PATCH', path), ...json({ keep: true }) })],
  ...['GET', 'HEAD'].flatMap((method): Way[] => {
    const path = (name: string, { userId }: NamesScene) => `/users/${userId}/repo/${name}`
    return [
      [`${method} by the user's id`, (name, scene) => request(method, path(name, scene))],
      [
        `${method} without a token`,
        (name, scene) => ({ ...request(method, path(name, scene)), isVisitor: true }),
      ],
    ]
  }),
  ...['GET', 'HEAD'].map((method): Way => [
    `${method} by a link`,
    (name, { download }) => visit(method, `${download}/${name}`),
  ]),
  ['PUT by a link', (name, { drop }) => ({ ...visit('PUT', `${drop}/${name}`), body: 'x' })],
  ['POST by a link', (name, { drop }) => ({ ...visit('POST', `${drop}/${name}`), ...form() })],
  [
    'DELETE by an operator',
    (name, { userId }) => operate('DELETE', `/admin/users/${userId}/files/${name}`),
  ],
]

/** Ways in which a name is a value of a query, of JSON or of tus. */
export const VALUE_WAYS: readonly Way[] = [
  ['the name of an archive', (name) => request('GET', `/users/me/archive?name=${escape(name)}`)],
  [
    'one of several names of an archive',
    (name) => request('GET', `/users/me/archive?name=a&name=${escape(name)}`),
  ],
  [
    'the name of an archive by an operator',
    (name, { userId }) => operate('GET', `/admin/users/${userId}/archive?name=${escape(name)}`),
  ],
  ['the name of a history', (name) => request('GET', `/users/me/history?name=${escape(name)}`)],
  [
    'the name of a history by an operator',
    (name, { userId }) => operate('GET', `/admin/users/${userId}/history?name=${escape(name)}`),
  ],
  ...['filename', 'name'].flatMap((key): Way[] => [
    [`${key} of tus`, (name) => ({ ...request('POST', '/users/me/uploads'), ...tus(key, name) })],
    [
      `${key} of tus by a link`,
      (name, { drop }) => ({ ...visit('POST', `${drop}/uploads/`), ...tus(key, name) }),
    ],
  ]),
]

/** As `VALUE_WAYS`, where the value may be any text, also one that is not UTF-8. */
export const JSON_WAYS: readonly Way[] = [
  ['the new name of a file', (name) => ({ ...own('PATCH', 'kept'), ...json({ name }) })],
  ['delete in a batch', (name) => batch({ op: 'delete', name })],
  [
    'delete in a batch that ignores what is missing',
    (name) => batch({ op: 'delete', name, ignore_missing: true }),
  ],
  ['update in a batch', (name) => batch({ op: 'update', name, keep: true })],
  ['rename in a batch', (name) => batch({ op: 'rename', name, new_name: 'other' })],
  ['new_name in a batch', (name) => batch({ op: 'rename', name: 'kept', new_name: name })],
  [
    'restore in a batch',
    (name, { past }) => batch({ op: 'restore', version: past, new_name: name }),
  ],
  [
    'a restore',
    (name, { past }) => ({
      ...request('POST', `/users/me/history/${past}/restore`),
      ...json({ name }),
    }),
  ],
  [
    'a restore by an operator',
    (name, { userId, past }) => ({
      ...operate('POST', `/admin/users/${userId}/history/${past}/restore`),
      ...json({ name }),
    }),
  ],
  [
    'the target of a link',
    (name) => ({ ...request('POST', '/users/me/links'), ...json({ kind: 'download', name }) }),
  ],
]

/** Ways in which a prefix of names arrives. */
export const PREFIX_WAYS: readonly Way[] = [
  ['a listing', (prefix) => request('GET', `/users/me/repo?prefix=${escape(prefix)}`)],
  [
    'a listing that rolls up',
    (prefix) => request('GET', `/users/me/repo?delimiter=%2F&prefix=${escape(prefix)}`),
  ],
  [
    "a listing of another user's files",
    (prefix, { userId }) => request('GET', `/users/${userId}/repo?prefix=${escape(prefix)}`),
  ],
  ['a history', (prefix) => request('GET', `/users/me/history?prefix=${escape(prefix)}`)],
  ['an archive', (prefix) => request('GET', `/users/me/archive?prefix=${escape(prefix)}`)],
  [
    'what a body may evict',
    (prefix) => ({ ...own('PUT', `new?evict=${escape(prefix)}`), body: 'x' }),
  ],
  [
    'what a form may evict',
    (prefix) => ({ ...own('POST', `new?evict=${escape(prefix)}`), ...form() }),
  ],
  [
    'what tus may evict',
    (prefix) => ({
      ...request('POST', `/users/me/uploads?evict=${escape(prefix)}`),
      ...tus('filename', 'new'),
    }),
  ],
  [
    'a listing by an operator',
    (prefix, { userId }) => operate('GET', `/admin/users/${userId}/files?prefix=${escape(prefix)}`),
  ],
  [
    'an archive by an operator',
    (prefix, { userId }) =>
      operate('GET', `/admin/users/${userId}/archive?prefix=${escape(prefix)}`),
  ],
]

/** As `PREFIX_WAYS`, where the value may be any text. */
export const JSON_PREFIX_WAYS: readonly Way[] = [
  ['a deletion in a batch', (prefix) => batch({ op: 'delete', prefix })],
  ['a rename in a batch', (prefix) => batch({ op: 'rename', prefix, new_prefix: 'other/' })],
  [
    'the scope of a token',
    (prefix) => ({
      ...request('POST', '/users/me/access-tokens'),
      ...json({ label: '', scope: { actions: ['read'], prefix } }),
    }),
  ],
  [
    'the scope of a token by an operator',
    (prefix, { userId }) => ({
      ...operate('POST', `/admin/users/${userId}/access-tokens`),
      ...json({ label: '', scope: { actions: ['read'], prefix } }),
    }),
  ],
  ...['download', 'drop'].map((kind): Way => [
    `a link for a ${kind}`,
    (prefix) => ({ ...request('POST', '/users/me/links'), ...json({ kind, prefix }) }),
  ]),
]

/** The spellings of a name that are different, by way of the table. */
export function spelled(name: string): readonly string[] {
  return [...new Set(SPELLINGS.map(([, spell]) => spell(name)))]
}

function batch(...operations: readonly object[]): NamedRequest {
  return { ...request('POST', '/users/me/batch'), ...json({ operations }) }
}

function own(method: string, name: string): NamedRequest {
  return request(method, `/users/me/repo/${name}`)
}

function request(method: string, path: string): NamedRequest {
  return { listener: 'public', method, path }
}

function visit(method: string, rest: string): NamedRequest {
  return { ...request(method, `/links/${rest}`), isVisitor: true }
}

function operate(method: string, path: string): NamedRequest {
  return { listener: 'admin', method, path }
}

function json(value: object): Pick<NamedRequest, 'headers' | 'body'> {
  return { headers: JSON_TYPE, body: JSON.stringify(value) }
}

function form(): Pick<NamedRequest, 'headers' | 'body'> {
  return { headers: { 'Content-Type': FORM_TYPE }, body: fileBody('x') }
}

function tus(key: string, name: string): Pick<NamedRequest, 'headers' | 'body'> {
  const metadata = { 'Upload-Metadata': `${key} ${base64(name)}` }
  return { headers: { ...TUS, ...metadata, 'Upload-Length': '1' }, body: '' }
}

function escape(value: string): string {
  return encodeURIComponent(value)
}
