import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest, STATUS_CODES } from 'node:http'
import { afterAll, expect } from 'vitest'
import type { ErrorCode } from '../../src/core/error-codes.ts'
import { parseFileName } from '../../src/core/files/file-name.ts'
import type { Usage } from '../../src/core/users/account-ledger.ts'
import { fileBody, httpChunk, uploadHead } from '../support/http/multipart-body.ts'
import { eventually } from '../support/eventually.ts'
import { bytesOf } from '../support/objects.ts'
import {
  type Piece,
  type RawExchange,
  type RawRequest,
  rawRequest,
} from '../support/http/raw-http.ts'
import type { TestService, TestServiceOptions, TestUser } from '../support/service/test-service.ts'
import { readUsage } from '../support/read-usage.ts'

/** Starts a service on adapters of its own; `stop` of it ends both. */
export type OpenService = (options?: TestServiceOptions) => Promise<TestService>

/**
 * Opens one service for all that ask for one of these options, and ends it with the surrounding `describe`. For suites
 * whose tests have users of their own, and look at no others.
 */
export function sharing(
  open: OpenService,
  ...shared: readonly (TestServiceOptions | undefined)[]
): OpenService {
  const opened = new Map<TestServiceOptions | undefined, Promise<TestService>>()
  afterAll(async () => {
    for (const service of opened.values()) await (await service).stop()
  })
  return async (options) => {
    if (!shared.includes(options)) return await open(options)
    const service = opened.get(options) ?? open(options)
    opened.set(options, service)
    return { ...(await service), stop: () => Promise.resolve() }
  }
}

export const MIB = 2 ** 20

/** For clients that fall silent, so that nothing is lost by closing on them early. */
export const SHORT_LINGER = { lingerMs: 200 }

/** A boundary that the form builder uses unless it is told another. */
export const FORM_TYPE = 'multipart/form-data; boundary=XBOUNDARY'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export function pathOf(name: string, owner = 'me'): string {
  return `/users/${owner}/repo/${encodeURIComponent(name)}`
}

export interface Upload {
  /** `POST` of a form when left out; `PUT` sends the content as it is. */
  readonly method?: 'POST' | 'PUT'
  /** Whose token goes along; none when left out. */
  readonly user?: TestUser
  readonly name?: string
  /** In place of the path that `name` makes. */
  readonly path?: string
  readonly query?: string
  /** The file's content, in a form with nothing else. */
  readonly content?: string | Uint8Array
  /** The whole body, in place of the one that `content` makes. */
  readonly form?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly chunked?: boolean
}

/** Sends a form as it is meant to be, or as a test wants it. */
export function upload(
  service: TestService,
  what: Upload & Pick<RawRequest, 'afterwards' | 'readLate' | 'timeoutMs'>,
): Promise<RawExchange> {
  const { afterwards = 'wait', readLate = false, timeoutMs = 20_000 } = what
  return rawRequest({
    port: service.port,
    send: uploadPieces(what),
    afterwards,
    readLate,
    timeoutMs,
  })
}

/** The head of an upload, then its body: whole, or in HTTP chunks of 64 KiB. */
export function uploadPieces(what: Upload): Piece[] {
  const { content = '', form = bodyOf(content, what.method), chunked = false } = what
  const head = headOf({ ...what, length: chunked ? undefined : form.length })
  return chunked ? [head, ...chunksOf(form), httpChunk('')] : [head, form]
}

/** What an upload of this content sends after its head. */
export function bodyOf(content: string | Uint8Array, method: Upload['method'] = 'POST'): Buffer {
  return method === 'POST' ? fileBody(content) : Buffer.from(content)
}

/** The head of an upload of `length` bytes, form and all; chunked without. */
export function headOf(what: Upload & { readonly length: number | undefined }): string {
  const {
    method = 'POST',
    user,
    name = 'file.bin',
    path = pathOf(name),
    query = '',
    headers = {},
    length,
  } = what
  const cookie = user === undefined ? {} : { Cookie: user.cookie }
  return uploadHead({
    method,
    path: path + query,
    ...(length === undefined ? {} : { length }),
    headers: { ...cookie, ...headers },
  })
}

function chunksOf(form: Uint8Array): Buffer[] {
  const starts = Array.from({ length: Math.ceil(form.length / 65_536) }, (_, at) => at * 65_536)
  return starts.map((start) => httpChunk(form.subarray(start, start + 65_536)))
}

export interface Download {
  readonly user?: TestUser
  readonly name?: string
  /** `me`, or a user's id. */
  readonly owner?: string
  /** In place of the path that `name` and `owner` make, and sent as it is. */
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function download(service: TestService, what: Download): Promise<Reply> {
  const response = await startDownload(service, what)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string>,
    body: await bytesOf(response),
  }
}

/** A download of which only the head has been read. */
export async function startDownload(
  service: TestService,
  what: Download,
): Promise<IncomingMessage> {
  const { user, name = 'file.bin', owner = 'me', path = pathOf(name, owner) } = what
  const { method = 'GET', headers = {} } = what
  const cookie = user === undefined ? {} : { cookie: user.cookie }
  const request = httpRequest({
    port: service.port,
    host: '127.0.0.1',
    method,
    path,
    headers: { ...cookie, ...headers },
    agent: false,
  })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

export interface Ask {
  readonly user?: TestUser | undefined
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly timeoutMs?: number
}

/** A request sent byte by byte as it stands, for paths that a client would tidy up. */
export function ask(service: TestService, request: Ask): Promise<RawExchange> {
  const { user, method = 'GET', path, headers = {}, body, timeoutMs = 10_000 } = request
  const cookie = user === undefined ? {} : { Cookie: user.cookie }
  const length = body === undefined ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` }
  const lines = Object.entries({ Host: 'localhost', ...cookie, ...length, ...headers })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map((pair) => pair.join(': ')), '', '']
  return rawRequest({ port: service.port, send: [head.join('\r\n'), body ?? ''], timeoutMs })
}

/** Each `Set-Cookie` of the answers, in order. */
export function setCookiesOf({ received }: RawExchange): readonly string[] {
  const lines = received.toString('latin1').matchAll(/^set-cookie: (.*?)\r?$/gim)
  return Array.from(lines, ([, line = '']) => line)
}

export function secretOf({ cookie }: TestUser): string {
  return cookie.slice('access_token='.length)
}

export function jsonOf({ body }: { readonly body: Buffer }): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>
}

const FACTS: Partial<Record<ErrorCode, readonly string[]>> = {
  capacity_exceeded: ['limit', 'capacity', 'used', 'reserved', 'requested', 'available'],
  file_count_exceeded: ['file_count', 'max_files'],
  archive_too_large: ['max_files'],
  file_too_large: ['max_file_size'],
  scope_insufficient: ['required'],
  operator_forbidden: ['required'],
  operator_count_exceeded: ['max_operators'],
  access_token_limit_exceeded: ['max_access_tokens'],
  link_count_exceeded: ['max_links'],
  invalid_parameter: ['parameter'],
  range_not_satisfiable: ['size'],
  digest_mismatch: ['sha256'],
  too_many_requests: ['retry_after'],
  offset_mismatch: ['offset', 'provided_offset'],
  upload_gone: ['outcome'],
  upload_length_exceeded: ['length'],
  upload_busy: ['retry_after'],
  unfinished_uploads_exceeded: ['unfinished_count', 'unfinished_bytes', 'max_unfinished_uploads'],
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface ExpectedProblem {
  readonly status: number
  readonly code: ErrorCode
  /** Further members of the document, where they are not those that the code always has. */
  readonly more?: readonly string[]
}

/** Asserts that a reply is a whole problem document with exactly the members of its code, and returns it. */
export function expectProblem(
  reply: Reply,
  { status, code, more = FACTS[code] ?? [] }: ExpectedProblem,
): Record<string, unknown> {
  expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status })
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json(;|$)/)
  const problem = jsonOf(reply)
  expect(problem).toMatchObject({
    type: `urn:cloud-repository:problem:${code}`,
    title: STATUS_CODES[status] ?? 'Checksum Mismatch',
    status,
    detail: expect.stringMatching(/^([A-Z]|[a-z_]+ ).*\.$/) as string,
    code,
    request_id: expect.stringMatching(UUID) as string,
  })
  const members = ['type', 'title', 'status', 'detail', 'code', 'request_id', ...more]
  expect(Object.keys(problem).sort()).toEqual(members.sort())
  expect(reply.headers['x-request-id']).toBe(problem['request_id'])
  return problem
}

/** Asserts that a request is refused for its two different access tokens, in words that say so. */
export function expectTwoTokens(reply: Reply): Record<string, unknown> {
  const two = { status: 403, code: 'access_token_invalid', more: ['access_tokens'] } as const
  const problem = expectProblem(reply, two)
  expect(problem).toMatchObject({ access_tokens: 2 })
  expect(problem['detail']).toMatch(/^The request has different access tokens/)
  return problem
}

/** A user with one file in place, and what it must still be after everything that is refused. */
export interface Placed {
  readonly user: TestUser
  readonly name: string
  readonly content: Buffer
  readonly etag: string
  /** How many calls of ports it took to place it; unknown when left out. */
  readonly calls?: number
}

/** Makes a user of `capacity` bytes who has one file of `size` bytes. */
export async function placeFile(
  service: TestService,
  { capacity = 64 * MIB, size = 1000, name = 'file.bin' } = {},
): Promise<Placed> {
  const user = await service.createUser(capacity)
  const content = randomBytes(size)
  const reply = await upload(service, { user, name, content })
  expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
  const etag = `"${String(jsonOf(reply)['etag'])}"`
  // What follows is compared with it, and a recorder that heard nothing would let all pass.
  expect(service.calls.changesSince(0)).toContain('ledger.commit')
  return { user, name, content, etag, calls: service.calls.count }
}

/**
 * Asserts that nothing has happened to a user's only file. Either nothing was called since then that could have changed
 * anything, or it is served byte-exact (I2), nothing is reserved, the ledger shows it alone (I4), after a sweep the
 * store holds its object alone (I8), and the next upload works.
 */
export async function expectUntouched(service: TestService, placed: Placed): Promise<void> {
  const { user, name, content, etag, calls } = placed
  if (calls !== undefined && service.calls.changesSince(calls).length === 0) return
  await expectNothingReserved(service, user)
  const reply = await download(service, { user, name })
  expect({ status: reply.status, etag: reply.headers['etag'] }).toEqual({ status: 200, etag })
  expect(reply.body.equals(content)).toBe(true)
  const figures = { used: content.length, reserved: 0, fileCount: 1 }
  // An upload whose client has gone may begin, and be given up, only now.
  await eventually(async () => expect(await usageOf(service, user)).toMatchObject(figures), 15_000)
  await expectOnlyObjectsOf(service, { user, names: [name] })
  const next = await upload(service, { user, name: 'next', content: '' })
  expect(next.status).toBe(200)
}

/** Asserts that since then no port was called in a way that could have changed anything. */
export function expectNothingChanged(service: TestService, { calls = 0 }: Placed): void {
  expect(service.calls.changesSince(calls)).toEqual([])
}

/** An upload that was given up is settled after its client has gone, so this waits a little. */
export async function expectNothingReserved(service: TestService, user: TestUser): Promise<void> {
  const reserved = async () => (await usageOf(service, user)).reserved
  await eventually(async () => expect(await reserved()).toBe(0), 5_000)
}

/** Asserts that after a sweep the store holds the objects of these files and no other of the user's. */
export async function expectOnlyObjectsOf(
  service: TestService,
  { user, names }: { readonly user: TestUser; readonly names: readonly string[] },
): Promise<void> {
  await service.sweep()
  const files = names.map((name) =>
    service.ledger.findFile({ userId: user.userId, name: parseFileName(name), audience: 'owner' }),
  )
  const referenced = (await Promise.all(files)).map((file) => file?.objectKey ?? 'no such file')
  expect((await service.storedKeys(user)).sort()).toEqual(referenced.sort())
}

export async function usageOf(service: TestService, { userId }: TestUser): Promise<Usage> {
  const usage = await readUsage(service.ledger, userId)
  if (usage === undefined) throw new Error('There is no such user.')
  return usage
}

/** An upload that has sent `first` and goes on when it is told to. */
export interface PausedUpload {
  readonly reply: Promise<RawExchange>
  resume(): void
}

/** Sends an upload of `content` up to its middle and waits there, with the reservation made. */
export async function pauseUpload(
  service: TestService,
  what: Upload & { readonly user: TestUser; readonly content: Uint8Array },
): Promise<PausedUpload> {
  const { user, method, content } = what
  const { promise, resolve } = Promise.withResolvers<void>()
  const form = bodyOf(content, method)
  const middle = form.length >> 1
  async function* pieces(): AsyncGenerator<Piece> {
    yield headOf({ ...what, length: form.length })
    yield form.subarray(0, middle)
    await promise
    yield form.subarray(middle)
  }
  const reply = rawRequest({ port: service.port, send: pieces(), timeoutMs: 20_000 })
  const reserved = async () => (await usageOf(service, user)).reserved
  await expect.poll(reserved, { interval: 10, timeout: 5000 }).toBeGreaterThan(0)
  return { reply, resume: () => resolve() }
}
