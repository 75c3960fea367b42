import { expect } from 'vitest'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import { httpChunk } from '../../support/http/multipart-body.ts'
import { type Piece, type RawExchange, rawRequest } from '../../support/http/raw-http.ts'
import { digest } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ask, jsonOf, pathOf, type Reply, usageOf } from '../fixture.ts'
import {
  expectFile,
  head as headOf,
  headText,
  type TusUpload,
  uploadOf,
} from '../resumable/tus-requests.ts'

/** What a client of the draft adds to every request. */
export const DRAFT = { 'Upload-Draft-Interop-Version': '8' } as const

export const PARTIAL_TYPE = { 'Content-Type': 'application/partial-upload' } as const

export const IANA = 'https://iana.org/assignments/http-problem-types#'

type Headers = Readonly<Record<string, string>>

export interface Creation {
  readonly user?: TestUser
  readonly name?: string
  /** `PUT` when left out. */
  readonly method?: string
  readonly query?: string
  /** The value of `Upload-Complete`; not sent when empty. */
  readonly complete?: string
  readonly length?: number | string
  readonly body?: string | Uint8Array
  readonly headers?: Headers
}

export function create(service: TestService, creation: Creation): Promise<RawExchange> {
  const { user, name = 'file.bin', method = 'PUT', complete = '?0', length, query = '' } = creation
  const { body = '', headers } = creation
  const path = `${pathOf(name)}${query}`
  const lines: Headers = {
    ...DRAFT,
    ...(complete !== '' && { 'Upload-Complete': complete }),
    ...(length !== undefined && { 'Upload-Length': `${length}` }),
    ...headers,
  }
  return ask(service, { user, method, path, headers: lines, body, timeoutMs: 20_000 })
}

export async function createUpload(
  service: TestService,
  creation: Creation & { readonly user: TestUser },
): Promise<TusUpload> {
  const reply = await create(service, creation)
  expect({ status: reply.status, body: reply.body.toString() }).toEqual({ status: 201, body: '' })
  return uploadOf(reply, creation)
}

export interface Append {
  readonly offset?: number | string
  /** `?0` when left out. */
  readonly complete?: string
  readonly length?: number | string
  readonly body?: string | Uint8Array
  readonly headers?: Headers
}

export function append(
  service: TestService,
  { user, path }: TusUpload,
  { offset = 0, complete = '?0', length, body = '', headers }: Append,
): Promise<RawExchange> {
  const lines: Headers = {
    ...DRAFT,
    ...PARTIAL_TYPE,
    'Upload-Offset': `${offset}`,
    'Upload-Complete': complete,
    ...(length !== undefined && { 'Upload-Length': `${length}` }),
    ...headers,
  }
  return ask(service, { user, method: 'PATCH', path, body, headers: lines, timeoutMs: 20_000 })
}

/** An append whose size is not announced. */
export function appendChunked(
  { port }: TestService,
  { user, path }: TusUpload,
  { offset = 0, complete = '?0', body = '' }: Append,
): Promise<RawExchange> {
  const start = headText(`PATCH ${path}`, {
    Cookie: user.cookie,
    ...DRAFT,
    ...PARTIAL_TYPE,
    'Upload-Offset': `${offset}`,
    'Upload-Complete': complete,
    'Transfer-Encoding': 'chunked',
  })
  return rawRequest({ port, send: [start, httpChunk(body), httpChunk('')], timeoutMs: 20_000 })
}

export function head(service: TestService, upload: TusUpload): Promise<Reply> {
  return headOf(service, upload, DRAFT)
}

export function cancel(service: TestService, { user, path }: TusUpload): Promise<RawExchange> {
  return ask(service, { user, method: 'DELETE', path, headers: DRAFT })
}

export interface Begun {
  readonly reply: Promise<RawExchange>
  /** Sends the rest, or what `afterwards` says. */
  readonly goOn: () => void
}

/** A request that has sent the first part of its content, and waits. */
export function begin(
  { port }: TestService,
  sent: {
    readonly user: TestUser
    /** Method and path. */
    readonly start: string
    readonly headers: Headers
    readonly first: string | Uint8Array
    readonly rest: string | Uint8Array
    readonly afterwards?: 'wait' | 'end' | 'reset'
  },
): Begun {
  const { user, start, first, rest, afterwards = 'wait' } = sent
  const { promise, resolve } = Promise.withResolvers<void>()
  const size = Buffer.byteLength(first) + Buffer.byteLength(rest)
  const headers = { Cookie: user.cookie, ...DRAFT, 'Content-Length': `${size}`, ...sent.headers }
  async function* pieces(): AsyncGenerator<Piece> {
    yield headText(start, headers)
    yield first
    await promise
    if (afterwards === 'wait') yield rest
  }
  const reply = rawRequest({ port, send: pieces(), afterwards, timeoutMs: 30_000 })
  return { reply, goOn: () => resolve() }
}

/** Asserts where the upload is, and that it goes on. */
export async function expectOffset(
  service: TestService,
  upload: TusUpload,
  offset: number,
): Promise<Reply> {
  const reply = await head(service, upload)
  const { status, headers } = reply
  expect({ status, headers }).toMatchObject({
    status: 204,
    headers: { 'upload-offset': `${offset}`, 'upload-complete': '?0', 'cache-control': 'no-store' },
  })
  return reply
}

export function expectAppended({ status, headers, body }: RawExchange, offset: number): void {
  expect({ status, headers, body: body.toString() }).toMatchObject({
    status: 204,
    headers: { 'upload-offset': `${offset}`, 'upload-complete': '?0' },
    body: '',
  })
}

/** Asserts that the reply is what a PUT of this content replies, and that the file is there. */
export async function expectStored(
  service: TestService,
  reply: RawExchange,
  {
    user,
    name,
    content,
  }: Pick<TusUpload, 'user' | 'name'> & { readonly content: string | Uint8Array },
): Promise<Record<string, unknown>> {
  const sha256 = digest(Buffer.from(content))
  expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
  const { used, reserved } = await usageOf(service, user)
  const json = jsonOf(reply)
  expect(json).toMatchObject({
    name,
    sha256,
    size: Buffer.byteLength(content),
    capacity: { used, reserved },
  })
  expect(reply.headers).toMatchObject({
    'upload-complete': '?1',
    etag: `"${String(json['version'])}"`,
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  })
  expect(reply.headers['location']).toBeUndefined()
  await expectFile(service, { user, name }, content)
  return json
}

export interface ExpectedRefusal {
  readonly status: number
  readonly code: ErrorCode
  /** `?0` when left out. */
  readonly complete?: string
  /** The name of a registered problem type. */
  readonly type?: string
}

export function expectRefused(
  reply: RawExchange,
  { status, code, complete = '?0', type }: ExpectedRefusal,
): Record<string, unknown> {
  expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status })
  const problem = jsonOf(reply)
  const expected = type === undefined ? `urn:cloud-repository:problem:${code}` : `${IANA}${type}`
  expect(problem).toMatchObject({ status, code, type: expected })
  expect(reply.headers['upload-complete']).toBe(complete)
  return problem
}
