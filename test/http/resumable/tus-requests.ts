import { expect } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { ObjectKey, Version } from '../../../src/core/objects/object-key.ts'
import { httpChunk } from '../../support/http/multipart-body.ts'
import { type Piece, type RawExchange, rawRequest } from '../../support/http/raw-http.ts'
import { callerNamed } from '../../support/caller.ts'
import { digest } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ask, download, jsonOf, type Placed, type Reply, usageOf } from '../fixture.ts'

export const TUS = { 'Tus-Resumable': '1.0.0' } as const

export const OFFSET_TYPE = { 'Content-Type': 'application/offset+octet-stream' } as const

export const UPLOADS = '/users/me/uploads'

type Headers = Readonly<Record<string, string>>

export interface TusUpload {
  readonly user: TestUser
  readonly name: string
  readonly id: Version
  readonly path: string
}

export interface Creation {
  /** Whose token goes along; none when left out. */
  readonly user?: TestUser
  readonly name?: string
  /** Not sent when left out; `deferred` sends `Upload-Defer-Length: 1`. */
  readonly length?: number | string
  /** In place of what `name` makes. */
  readonly metadata?: string
  readonly query?: string
  readonly headers?: Headers
  readonly body?: string | Uint8Array
}

export function base64(text: string | Uint8Array): string {
  return Buffer.from(text).toString('base64')
}

/** As the client of a new upload sends it. */
export function create(service: TestService, creation: Creation): Promise<RawExchange> {
  const { user, query = '', headers, body } = creation
  const path = `${UPLOADS}${query}`
  return ask(service, {
    user,
    method: 'POST',
    path,
    headers: { ...creationHeaders(creation), ...headers },
    ...(body !== undefined && { body }),
  })
}

export function creationHeaders({ name = 'file.bin', length, metadata, body }: Creation): Headers {
  return {
    ...TUS,
    'Upload-Metadata': metadata ?? `filename ${base64(name)}`,
    ...(length === 'deferred'
      ? { 'Upload-Defer-Length': '1' }
      : length !== undefined && { 'Upload-Length': `${length}` }),
    ...(body === undefined ? { 'Content-Length': '0' } : OFFSET_TYPE),
  }
}

/** An upload that the service has created. */
export async function createUpload(
  service: TestService,
  creation: Creation & { readonly user: TestUser },
): Promise<TusUpload> {
  const reply = await create(service, creation)
  expect({ status: reply.status, body: reply.body.toString() }).toEqual({ status: 201, body: '' })
  return uploadOf(reply, creation)
}

/** The upload that an answer to a creation names. */
export function uploadOf(
  { headers }: Pick<Reply, 'headers'>,
  { user, name = 'file.bin' }: Pick<Creation, 'name'> & { readonly user: TestUser },
): TusUpload {
  const path = headers['location'] ?? ''
  return { user, name, id: path.slice(path.lastIndexOf('/') + 1) as Version, path }
}

export interface Append {
  readonly offset?: number | string
  readonly body?: string | Uint8Array
  /** `PATCH` when left out. */
  readonly method?: string
  readonly user?: TestUser
  readonly headers?: Headers
}

export function append(
  service: TestService,
  upload: TusUpload,
  { offset = 0, body = '', method = 'PATCH', user = upload.user, headers }: Append,
): Promise<RawExchange> {
  const { path } = upload
  const sent = { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': `${offset}`, ...headers }
  return ask(service, { user, method, path, body, headers: sent, timeoutMs: 20_000 })
}

/** Appends and expects the offset that follows. */
export async function appended(
  service: TestService,
  upload: TusUpload,
  { offset = 0, body }: { readonly offset?: number; readonly body: string | Uint8Array },
): Promise<RawExchange> {
  const reply = await append(service, upload, { offset, body })
  expectOffset(reply, offset + Buffer.byteLength(body))
  return reply
}

export function expectOffset(reply: RawExchange, offset: number): void {
  expect({
    status: reply.status,
    offset: reply.headers['upload-offset'],
    body: reply.body.toString(),
  }).toEqual({ status: 204, offset: `${offset}`, body: '' })
}

export function head(
  service: TestService,
  { user, path }: Pick<TusUpload, 'user' | 'path'>,
  headers: Headers = TUS,
): Promise<Reply> {
  return download(service, { user, path, method: 'HEAD', headers })
}

/** Where a client would continue. */
export async function offsetOf(service: TestService, upload: TusUpload): Promise<number> {
  const { status, headers } = await head(service, upload)
  expect(status).toBe(200)
  return Number(headers['upload-offset'])
}

export function cancel(service: TestService, upload: TusUpload): Promise<RawExchange> {
  const { user, path } = upload
  return ask(service, { user, method: 'DELETE', path, headers: TUS })
}

/** Sends the rest as a client does that tries again, since an earlier request may still be under way. */
export async function resume(
  service: TestService,
  upload: TusUpload,
  content: string | Uint8Array,
): Promise<void> {
  const rest = async (): Promise<number> => {
    const offset = await offsetOf(service, upload)
    const body = Buffer.from(content).subarray(offset)
    return (await append(service, upload, { offset, body })).status
  }
  await expect.poll(rest, POLL).toBe(204)
}

/** What the service tells of an upload, without disturbing it. */
export function look(service: TestService, { user, path }: TusUpload): Promise<RawExchange> {
  return ask(service, { user, path })
}

export async function stateOf(service: TestService, upload: TusUpload): Promise<unknown> {
  return jsonOf(await look(service, upload))['state']
}

export async function listed(service: TestService, user: TestUser): Promise<readonly unknown[]> {
  const { uploads } = jsonOf(await ask(service, { user, path: UPLOADS }))
  return (uploads as readonly { readonly upload_id: string }[]).map(({ upload_id: id }) => id)
}

/** Asserts that the file has exactly this content, and nothing is reserved. */
export async function expectFile(
  service: TestService,
  { user, name }: Pick<TusUpload, 'user' | 'name'>,
  content: string | Uint8Array,
): Promise<Reply> {
  const reply = await download(service, { user, name })
  const sha256 = digest(Buffer.from(content))
  expect({ status: reply.status, sha256: digest(reply.body) }).toEqual({ status: 200, sha256 })
  expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
  return reply
}

export interface OpenAppend {
  readonly reply: Promise<RawExchange>
  /** Sends the rest, or what `afterwards` says. */
  readonly goOn: () => void
}

export interface BeginAppend {
  readonly offset?: number
  /** Sent at once. */
  readonly first: Uint8Array
  /** Sent when it goes on. */
  readonly rest?: Uint8Array
  /** Bytes that are announced, and never sent. */
  readonly missing?: number
  /** The body is chunked; else its length is that of both. */
  readonly chunked?: boolean
  readonly afterwards?: 'wait' | 'end' | 'reset'
  readonly headers?: Headers
}

/** An append that has sent `first`, is held by the service, and goes on when it is told to. */
export async function beginAppend(
  service: TestService,
  upload: TusUpload,
  append: BeginAppend,
): Promise<OpenAppend> {
  const { offset = 0, first, rest = Buffer.alloc(0), missing = 0, chunked = false } = append
  const { afterwards = 'wait', headers } = append
  const { promise, resolve } = Promise.withResolvers<void>()
  const framing: Headers = chunked
    ? { 'Transfer-Encoding': 'chunked' }
    : { 'Content-Length': `${first.length + rest.length + missing}` }
  const cookie = { Cookie: upload.user.cookie }
  const lines = { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': `${offset}`, ...cookie, ...framing }
  async function* pieces(): AsyncGenerator<Piece> {
    yield headText(`PATCH ${upload.path}`, { ...lines, ...headers })
    yield chunked ? httpChunk(first) : first
    await promise
    if (rest.length > 0) yield chunked ? httpChunk(rest) : rest
    if (chunked && afterwards === 'wait') yield httpChunk('')
  }
  const { port } = service
  const reply = rawRequest({ port, send: pieces(), afterwards, timeoutMs: 30_000 })
  await expect.poll(() => stateOf(service, upload), POLL).toBe('receiving')
  return { reply, goOn: () => resolve() }
}

/** The head of a request, with the empty line. */
export function headText(
  start: string,
  headers: Headers | readonly (readonly [string, string])[],
): string {
  const lines = Array.isArray(headers) ? headers : Object.entries(headers)
  return [
    `${start} HTTP/1.1`,
    'Host: localhost',
    ...lines.map((pair: readonly string[]) => pair.join(': ')),
    '',
    '',
  ].join('\r\n')
}

/**
 * Waits until bytes of a chunked body to an upload of deferred length have come: they make its reservation grow. It
 * grows ahead of them, so they must be few enough to come at once.
 */
export async function hasReceived(
  service: TestService,
  { user }: TusUpload,
  bytes: number,
): Promise<void> {
  const reserved = async (): Promise<number> => (await usageOf(service, user)).reserved
  await expect.poll(reserved, POLL).toBeGreaterThanOrEqual(bytes)
}

export const POLL = { interval: 10, timeout: 10_000 } as const

/** The job of a running service that stops appends for other instances. */
export function answerOthers(service: TestService): Disposable {
  const timer = setInterval(() => void service.uploads.stopAsked().catch(() => undefined), 50)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Asserts that after a sweep the store holds the objects of these files, and beside them at most tails, which are kept
 * for 15 minutes.
 */
export async function expectOnlyFilesOf(
  service: TestService,
  { user, names }: { readonly user: TestUser; readonly names: readonly string[] },
): Promise<void> {
  await service.sweep()
  const { userId } = user
  const named = names.map(
    (name) => ({ userId, name: parseFileName(name), audience: 'owner' }) as const,
  )
  const files = await Promise.all(named.map((file) => service.ledger.findFile(file)))
  const referenced = files.map((file) => file?.objectKey ?? 'no such file')
  const keys = await service.storedKeys(user)
  expect(keys).toEqual(expect.arrayContaining(referenced))
  for (const key of keys.filter((each) => !referenced.some((known) => known === each))) {
    const found = await service.objects.head({
      key: key as ObjectKey,
      signal: AbortSignal.timeout(10_000),
    })
    expect(found?.metadata).toEqual({ tail: '1' })
  }
}

/** Asserts that a user's only file is as it was, and nothing else is left (I2). */
export async function expectOldFile(
  service: TestService,
  { user, name, content }: Pick<Placed, 'user' | 'name' | 'content'>,
): Promise<void> {
  await expectFile(service, { user, name }, content)
  expect(await usageOf(service, user)).toMatchObject({ used: content.length, fileCount: 1 })
  await expectOnlyFilesOf(service, { user, names: [name] })
}

/** Seals an upload of one byte and holds it, as an instance does that finishes it. */
export async function finishElsewhere(
  { ledger, users }: TestService,
  { user: { userId }, version }: { readonly user: TestUser; readonly version: Version },
): Promise<void> {
  const named = { ...(await callerNamed(users, userId)), version }
  const holding = { holder: 'another instance', holderMs: 60_000 }
  const claim = await ledger.claimAppend({ ...named, ...holding, offset: 0, tailKey: undefined })
  if (claim === undefined) throw new Error('The upload is not open.')
  const { epoch, storeState } = claim.upload
  const recorded = { userId, version, epoch, offset: 1, storeState, replacedFrom: 0, pieces: [] }
  const sealed = { digest: undefined }
  await ledger.recordAppend({ ...recorded, holderMs: undefined, sealed })
  await ledger.claimFinish({ ...named, ...holding })
}
