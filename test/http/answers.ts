import { fileBody } from '../support/http/multipart-body.ts'
import type { RawExchange } from '../support/http/raw-http.ts'
import type { TestService } from '../support/service/test-service.ts'
import { type Ask, ask, FORM_TYPE, pathOf, type Placed } from './fixture.ts'

/** A request to a user's file, and the status that it gets. */
export interface Asked extends Omit<Ask, 'user' | 'path'> {
  readonly path?: string
  readonly status: number
  /** Whether the user's token is left out. */
  readonly anonymous?: boolean
}

const FORM = { 'Content-Type': FORM_TYPE }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const BATCH = '/users/me/batch'
const ABSENT = { path: pathOf('absent') }

/** One request for each kind of answer, in an order in which each gets its own. */
export const ANSWERS: Readonly<Record<string, Asked>> = {
  'a file': { status: 200 },
  'a range': { status: 206, headers: { Range: 'bytes=1-2' } },
  'what has not changed': { status: 304, headers: { 'If-None-Match': '*' } },
  'a condition that fails': { status: 412, headers: { 'If-Match': '"other"' } },
  'a range beyond the end': { status: 416, headers: { Range: 'bytes=5000-' } },
  'what is not there': { status: 404, path: pathOf('absent') },
  'a path of nothing': { status: 404, path: '/nothing' },
  'another method': { status: 405, method: 'DELETE', path: '/users/me/repo' },
  'a path that no router reads': { status: 400, path: '/users/me/repo/%zz' },
  'a fragment': { status: 400, path: '/users/me/repo/a#b' },
  'an expectation': { status: 400, headers: { Expect: 'banana' } },
  'no token': { status: 403, anonymous: true },
  'a wrong token': { status: 403, anonymous: true, headers: { Cookie: 'access_token=wrong' } },
  'a listing': { status: 200, path: '/users/me/repo' },
  'a wrong listing': { status: 400, path: '/users/me/repo?limit=0' },
  'a capacity': { status: 200, path: '/users/me/capacity' },
  'a session': { status: 200, path: '/session' },
  'access tokens': { status: 200, path: '/users/me/access-tokens' },
  links: { status: 200, path: '/users/me/links' },
  'a link that is none': { status: 404, path: '/links/none', anonymous: true },
  liveness: { status: 200, path: '/livez', anonymous: true },
  'a form': { status: 200, method: 'POST', headers: FORM, body: fileBody('new') },
  'a form that is none': { status: 400, method: 'POST', headers: FORM, body: 'none' },
  'a body': { status: 200, method: 'PUT', body: 'new' },
  'a body that does not fit': { status: 403, method: 'PUT', body: 'x'.repeat(5_000) },
  'a change': { status: 200, method: 'PATCH', headers: JSON_TYPE, body: '{"visibility":"users"}' },
  'a change of nothing': { status: 400, method: 'PATCH', headers: JSON_TYPE, body: '{}' },
  'a batch': {
    status: 200,
    method: 'POST',
    path: BATCH,
    headers: JSON_TYPE,
    body: '{"operations":[{"op":"delete","name":"absent","ignore_missing":true}]}',
  },
  'a batch of nothing': {
    status: 400,
    method: 'POST',
    path: BATCH,
    headers: JSON_TYPE,
    body: '{"operations":[]}',
  },
  'a removal': { status: 204, method: 'DELETE' },
  'a removal of what is not there': { status: 404, method: 'DELETE', ...ABSENT },
}

/** Asks as `placed.user`, with more headers than the row has. */
export function askFor(
  service: TestService,
  { placed, asked, headers }: { placed: Placed; asked: Asked; headers?: Ask['headers'] },
): Promise<RawExchange> {
  const { anonymous = false, path = pathOf(placed.name), status: _status, ...rest } = asked
  const user = anonymous ? undefined : placed.user
  return ask(service, { ...rest, user, path, headers: { ...asked.headers, ...headers } })
}
