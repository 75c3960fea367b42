import { ask, type Exchange } from './exchange.ts'
import type { DataSet } from './data-set.ts'
import type { Listening } from './service.ts'

/** Does what leaves a row in each table. */
export async function fill(listening: Listening): Promise<Story> {
  const { url, adminUrl, adminToken } = listening
  const administrate = (line: string, body?: object) =>
    send(adminUrl, line, { token: adminToken, ...jsonOf(body) })
  for (const user of ['ada', 'bob', 'cyd']) await administrate(`PUT /admin/users/${user}`)
  await administrate('PUT /admin/users/ada/devices/camera-17', { bytes: 2 ** 20 })
  await administrate('PUT /admin/users/ada/grants/plan/yearly', { bytes: 2 ** 30, ...PERIOD })
  const { access_token: token } = await administrate('POST /admin/users/ada/access-tokens', {})
  await administrate('PATCH /admin/users/cyd', { status: 'suspended' })

  const use = (line: string, request: Omit<Sent, 'token'> = {}) =>
    send(url, line, { token, ...request })
  const { changes_cursor: begin } = await use('GET /users/me/repo')
  await use('PUT /users/me/repo/empty', { body: '' })
  await use('PUT /users/me/repo/notes.txt', {
    body: 'the first notes',
    headers: { 'content-type': 'text/plain', 'file-metadata': '{"camera":"front door"}' },
  })
  await use('PUT /users/me/repo/gr%C3%B6%C3%9Fe%20%E6%97%A5%E6%9C%AC', { body: 'a long name' })
  await use('PUT /users/me/repo/film.mov?visibility=public', { body: 'frame '.repeat(50_000) })
  const { version: pastVersion } = await use('PUT /users/me/repo/replaced', { body: 'before' })
  await use('PUT /users/me/repo/replaced', { body: 'after' })
  await use('PUT /users/me/repo/deleted', { body: 'restorable' })
  await use('DELETE /users/me/repo/deleted')
  await use('PUT /users/me/repo/draft', { body: 'renamed and kept' })
  await use('PATCH /users/me/repo/draft', jsonOf({ name: 'kept', keep: true }))
  await use('PATCH /users/me/repo/kept', jsonOf({ expires_at: LATER }))

  const scope = { actions: ['read', 'create'], prefix: 'cam1-' }
  const narrow = await use('POST /users/me/access-tokens', jsonOf({ label: 'camera', scope }))
  const shared = await use('POST /users/me/links', jsonOf({ kind: 'download', name: 'notes.txt' }))
  const drop = { kind: 'drop', prefix: 'in-', password: 'open sesame', max_uses: 5 }
  await use('POST /users/me/links', jsonOf(drop))

  const unfinished = await beginUpload(url, { token, name: 'resumed', length: 20 })
  await append(url, { token, path: unfinished, content: '01234567' })
  const cancelled = await beginUpload(url, { token, name: 'cancelled', length: 20 })
  await append(url, { token, path: cancelled, content: '01234567' })
  await use(`DELETE ${cancelled}`, { headers: TUS })
  const { changes_cursor: cursor } = await use('GET /users/me/repo')
  return {
    token,
    cursor,
    pastVersion,
    unfinished: { path: unfinished, offset: 8, rest: '89abcdefghij' },
    reads: [
      ...OWN_PATHS.map((path) => ({ listener: 'public', path, token }) as const),
      { listener: 'public', path: `/users/me/history/${pastVersion}`, token },
      { listener: 'public', path: `/users/me/changes?cursor=${begin}`, token },
      { listener: 'public', path: unfinished, token },
      { listener: 'public', path: '/users/me/repo', token: narrow.access_token },
      { listener: 'public', path: '/users/ada/repo/film.mov' },
      { listener: 'public', path: '/users/ada/repo/notes.txt' },
      { listener: 'public', path: `/links/${shared.secret}` },
      { listener: 'public', path: `/links/${shared.secret}/notes.txt` },
      ...ADMIN_PATHS.map((path) => ({ listener: 'admin', path, token: adminToken }) as const),
    ],
  }
}

const OWN_PATHS = [
  '/users/me/repo',
  '/users/me/repo?order=-size&limit=3',
  '/users/me/repo?order=updated_at',
  '/users/me/repo/empty',
  '/users/me/repo/notes.txt',
  '/users/me/repo/gr%C3%B6%C3%9Fe%20%E6%97%A5%E6%9C%AC',
  '/users/me/repo/film.mov',
  '/users/me/repo/replaced',
  '/users/me/repo/deleted',
  '/users/me/repo/kept',
  '/users/me/capacity',
  '/users/me/history',
  '/users/me/uploads',
  '/users/me/access-tokens',
  '/users/me/links',
]

const ADMIN_PATHS = [
  '/admin/users',
  '/admin/users/ada',
  '/admin/users/cyd',
  '/admin/users/ada/access-tokens',
  '/admin/users/ada/devices',
  '/admin/users/ada/grants',
  '/admin/users/ada/history',
  '/admin/users/ada/uploads',
]

/** Long after the tests of all later versions. */
const LATER = '2100-01-01T00:00:00.000Z'
const PERIOD = { starts_at: '2026-01-01T00:00:00.000Z', ends_at: LATER }

const TUS = { 'tus-resumable': '1.0.0' }

export interface Story extends Omit<DataSet, 'exchanges'> {
  readonly reads: readonly Omit<Exchange, 'answer'>[]
}

export async function record(
  listening: Pick<Listening, 'url' | 'adminUrl'>,
  reads: Story['reads'],
): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = []
  for (const read of reads) {
    exchanges.push({ ...read, answer: await ask(addressOf(listening, read), read.token) })
  }
  return exchanges
}

export function addressOf(
  { url, adminUrl }: Pick<Listening, 'url' | 'adminUrl'>,
  { listener, path }: Pick<Exchange, 'listener' | 'path'>,
): string {
  return `${listener === 'admin' ? adminUrl : url}${path}`
}

interface Sent {
  readonly token: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The members of replies that the story uses. */
interface Replied {
  readonly access_token: string
  readonly changes_cursor: string
  readonly secret: string
  readonly version: string
}

/** `line` has the method and the path. Rejects unless the request succeeds. */
export async function send(url: string, line: string, request: Sent): Promise<Replied> {
  return JSON.parse((await succeed(url, line, request)).text || '{}') as Replied
}

async function succeed(url: string, line: string, { token, body, headers }: Sent) {
  const [method = '', path = ''] = line.split(' ')
  const authorization = `Bearer ${token}`
  const init = {
    method,
    headers: { authorization, ...headers },
    ...(body !== undefined && { body }),
  }
  const reply = await fetch(`${url}${path}`, init)
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${line}: ${reply.status} ${text}`)
  return { text, headers: reply.headers }
}

function jsonOf(body: object | undefined) {
  if (body === undefined) return {}
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

/** Resolves to the path of the upload. */
async function beginUpload(
  url: string,
  { token, name, length }: { token: string; name: string; length: number },
): Promise<string> {
  const named = `filename ${Buffer.from(name).toString('base64')}`
  const headers = { ...TUS, 'upload-length': String(length), 'upload-metadata': named }
  const created = await succeed(url, 'POST /users/me/uploads', { token, headers })
  return new URL(created.headers.get('location') ?? '', url).pathname
}

interface Append {
  readonly token: string
  readonly path: string
  readonly content: string
  /** 0 by default. */
  readonly offset?: number
}

export async function append(url: string, { token, path, content, offset = 0 }: Append) {
  const type = { 'content-type': 'application/offset+octet-stream' }
  const headers = { ...TUS, ...type, 'upload-offset': String(offset) }
  await succeed(url, `PATCH ${path}`, { token, body: content, headers })
}
