import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { expect } from 'vitest'
import {
  ADMIN_SESSION_SECONDS,
  createAdminSessions,
} from '../../../src/http/admin/admin-session.ts'
import type { OperatorRole } from '../../../src/core/operators/operator.ts'
import { expectProblem, jsonOf, type Reply } from '../fixture.ts'
import { bytesOf } from '../../support/objects.ts'
import type { TestService, TestServiceOptions } from '../../support/service/test-service.ts'

export const ADMIN_TOKEN = 'an-admin-token-of-the-tests'

/** The cookie of a session that was opened so many seconds ago, with that token. */
export function sessionCookie({ token = ADMIN_TOKEN, secondsAgo = 0 } = {}): string {
  const clock = () => Date.now() - secondsAgo * 1000
  return `admin_session=${createAdminSessions(token, clock).open()}`
}

/** The cookie of one that was good once. */
export function expiredCookie(): string {
  return sessionCookie({ secondsAgo: ADMIN_SESSION_SECONDS + 1 })
}

/** A base of 1000 bytes, 100 for a device, 200 for one of model `camera`. */
export const ADMIN_OPTIONS = {
  adminToken: ADMIN_TOKEN,
  baseCapacity: 1000,
  deviceCapacity: 100,
  deviceModels: new Map([['camera', 200]]),
} as const satisfies TestServiceOptions

export interface Call {
  readonly method: string
  /** After `/admin/users`. */
  readonly path?: string
  /** The whole path, in place of the one that `path` makes. */
  readonly at?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, in place of `body`. */
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_TOKEN}` }
const JSON_TYPE = { 'content-type': 'application/json' }

/** One call of the admin API, as an operator makes it. */
export function call(service: TestService, what: Call): Promise<Reply> {
  return send(service, { ...what, headers: { ...AUTHORIZATION, ...what.headers } })
}

/** The same with the token of an operator. */
export function callAs(service: TestService, what: Call & { readonly token: string }) {
  const { token, ...sent } = what
  return send(service, { ...sent, headers: { authorization: `Bearer ${token}`, ...sent.headers } })
}

/** The same without a token. */
export async function send(service: TestService, what: Call): Promise<Reply> {
  const { method, path = '', at = `/admin/users${path}`, body, headers = {} } = what
  const raw = what.raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const request = httpRequest({
    host: '127.0.0.1',
    port: service.adminPort,
    method,
    path: at,
    headers: {
      ...(raw === undefined ? {} : { ...JSON_TYPE, 'content-length': Buffer.byteLength(raw) }),
      ...headers,
    },
    agent: false,
  })
  request.end(raw)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string>,
    body: await bytesOf(response),
  }
}

/** What a call answers that is to succeed with that status. */
export async function done(
  service: TestService,
  { status, ...what }: Call & { readonly status: number },
): Promise<Record<string, unknown>> {
  const reply = await call(service, what)
  expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status })
  return reply.body.length === 0 ? {} : jsonOf(reply)
}

export const OPERATORS = '/admin/operators'

/** Adds an operator and returns the token. */
export async function addOperator(
  service: TestService,
  body: { readonly name: string; readonly role: OperatorRole },
): Promise<string> {
  const { token } = await done(service, { method: 'POST', at: OPERATORS, body, status: 201 })
  return String(token)
}

/** Makes a user with a generated id and returns `/` and that id. */
export async function newUser(service: TestService): Promise<string> {
  const { user_id } = await done(service, { method: 'POST', status: 201 })
  return `/${String(user_id)}`
}

/** Issues a token and returns the `Cookie` header of the user's requests. */
export async function newCookie(service: TestService, path: string): Promise<string> {
  const call = { method: 'POST', path: `${path}/access-tokens`, status: 201 }
  const { access_token } = await done(service, call)
  return `access_token=${String(access_token)}`
}

/** Asserts that a call is refused for that parameter. */
export function expectFault(reply: Reply, parameter: string): void {
  const problem = expectProblem(reply, { status: 400, code: 'invalid_parameter' })
  expect(problem['parameter']).toBe(parameter)
}

/** All pages of a list, of `limit` entries each; the path may have a query. */
export async function allPages(
  service: TestService,
  {
    path = '',
    at = `/admin/users${path}`,
    member,
    limit,
  }: { path?: string; at?: string; member: string; limit: number },
): Promise<readonly Record<string, unknown>[]> {
  const entries: Record<string, unknown>[] = []
  let cursor: unknown
  do {
    const after = typeof cursor === 'string' ? `&cursor=${cursor}` : ''
    const query = `${at.includes('?') ? '&' : '?'}limit=${limit}${after}`
    const get = { method: 'GET', at: `${at}${query}`, status: 200 }
    const reply = await done(service, get)
    const page = reply[member] as Record<string, unknown>[]
    expect(page.length).toBeLessThanOrEqual(limit)
    entries.push(...page)
    cursor = reply['next_cursor']
  } while (cursor !== null)
  return entries
}
