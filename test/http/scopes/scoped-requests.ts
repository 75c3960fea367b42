import { type AskedScope, parseScope } from '../../../src/core/auth/scope.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { base64, OFFSET_TYPE, TUS, UPLOADS } from '../resumable/tus-requests.ts'

export interface Sent {
  readonly path: string
  /** `GET` when left out. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request with a bearer token. */
export function send(
  { url }: TestService,
  { path, token, ...init }: Sent & { readonly token: string },
): Promise<Response> {
  const headers = { ...init.headers, Authorization: `Bearer ${token}` }
  return fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' })
}

/** The creation of a resumable upload. */
export function creation(
  name: string,
  { length = 1, ...headers }: { readonly length?: number; readonly [header: string]: unknown } = {},
): Sent {
  const terms = { 'Upload-Length': `${length}`, 'Upload-Metadata': `filename ${base64(name)}` }
  return {
    method: 'POST',
    path: UPLOADS,
    headers: { ...TUS, ...terms, ...(headers as Readonly<Record<string, string>>) },
  }
}

/** The first append to the resumable upload that a response has created. */
export function firstAppend(created: Response, body: string): Sent {
  const headers = { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': '0' }
  return { method: 'PATCH', path: locationOf(created), headers, body }
}

/** The path of the resumable upload that a response has created. */
export function locationOf({ headers, url }: Response): string {
  return new URL(headers.get('location') ?? '', url).pathname
}

export interface Problem {
  readonly status: number
  readonly code: string
  readonly required?: string
  readonly parameter?: string
}

/** What a refusal says, without what differs from request to request; `undefined` for any other answer. */
export async function problemOf(response: Response): Promise<Problem | undefined> {
  const { status } = response
  const text = await response.text()
  if (status < 400) return undefined
  // An answer to HEAD has no body.
  if (text === '') return { status, code: status === 403 ? 'scope_insufficient' : 'other' }
  const { request_id: _, ...problem } = JSON.parse(text) as Problem & {
    readonly request_id: string
  }
  return problem
}

/** Makes a token as an operator does. */
export async function issue(
  { accessTokens }: TestService,
  { userId }: TestUser,
  scope: object,
): Promise<string> {
  const asked: AskedScope = parseScope(scope)
  const terms = { userId, label: '', expiresInSeconds: undefined }
  return (await accessTokens.issue({ ...terms, scope: asked })).secret
}
