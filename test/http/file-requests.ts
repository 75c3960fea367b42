import { callerNamed } from '../support/caller.ts'
import { expect } from 'vitest'
import { parseFileName } from '../../src/core/files/file-name.ts'
import { objectKey, createVersion, type Version } from '../../src/core/objects/object-key.ts'
import type { RawExchange } from '../support/http/raw-http.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { ask, download, jsonOf, pathOf, upload } from './fixture.ts'

export interface FileRequest {
  /** Whose token goes along; none when left out. */
  readonly user?: TestUser | undefined
  readonly name?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** `DELETE` of an own file. */
export function remove(service: TestService, what: FileRequest): Promise<RawExchange> {
  const { user, name = 'file.bin', headers = {} } = what
  return ask(service, { user, method: 'DELETE', path: pathOf(name), headers })
}

/** `PATCH` of an own file with a body that is JSON, or a text as it is. */
export function change(
  service: TestService,
  what: FileRequest & { readonly body: object | string },
): Promise<RawExchange> {
  const { user, name = 'file.bin', body, headers = {} } = what
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = { 'Content-Type': 'application/json' }
  const path = pathOf(name)
  return ask(service, { user, method: 'PATCH', path, headers: { ...type, ...headers }, body: text })
}

export interface ListRequest {
  readonly user?: TestUser
  /** `me`, or a user's id. */
  readonly owner?: string
  readonly query?: Readonly<Record<string, string | number>> | string
}

/** `GET` of a listing. */
export function list(service: TestService, what: ListRequest): Promise<RawExchange> {
  const { user, owner = 'me', query = {} } = what
  const parameters = typeof query === 'string' ? query : formatQuery(query)
  return ask(service, { user, path: `/users/${owner}/repo?${parameters}` })
}

function formatQuery(query: Readonly<Record<string, string | number>>): string {
  return Object.entries(query)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&')
}

export interface ListedFile {
  readonly [member: string]: unknown
  readonly name: string
}

export interface ListedPage {
  readonly files: readonly ListedFile[]
  readonly next_cursor: string | null
}

export function pageOf(reply: RawExchange): ListedPage {
  expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
  return JSON.parse(reply.body.toString()) as ListedPage
}

/** The names that a listing shows in one page. */
export async function namesOf(service: TestService, what: ListRequest): Promise<string[]> {
  return pageOf(await list(service, what)).files.map(({ name }) => name)
}

/** The names of a whole listing, read page by page; `between` runs after each page but the last. */
export async function namesOfAll(
  service: TestService,
  what: Omit<ListRequest, 'query'> & {
    readonly query: Readonly<Record<string, string | number>>
    readonly between?: (page: number) => Promise<unknown>
  },
): Promise<string[]> {
  const names: string[] = []
  let cursor: string | undefined
  let pages = 0
  do {
    const query = cursor === undefined ? what.query : { ...what.query, cursor }
    const page = pageOf(await list(service, { ...what, query }))
    names.push(...page.files.map(({ name }) => name))
    cursor = page.next_cursor ?? undefined
    pages += 1
    if (cursor !== undefined) await what.between?.(pages)
  } while (cursor !== undefined)
  return names
}

/** The methods that write to a file. */
export const WRITES = ['PATCH', 'POST', 'PUT', 'DELETE'] as const

export type Write = (typeof WRITES)[number]

/** A well-formed write to a file that is there, which `headers` may have refused. */
export function write(
  service: TestService,
  what: FileRequest & { readonly method: Write; readonly content?: string },
): Promise<RawExchange> {
  const { method, user, content = 'new', ...rest } = what
  switch (method) {
    case 'DELETE':
      return remove(service, { user, ...rest })
    case 'PATCH':
      return change(service, { user, body: { visibility: 'users' }, ...rest })
    case 'POST':
    case 'PUT':
      return upload(service, { ...(user && { user }), method, content, ...rest })
  }
}

/** What a file's current state is, in the words of the headers of a download. */
export async function validatorsOf(
  service: TestService,
  { user, name }: { readonly user: TestUser; readonly name?: string },
): Promise<{ readonly etag: string; readonly modified: string }> {
  const { headers } = await download(service, { user, ...(name && { name }), method: 'HEAD' })
  return { etag: String(headers['etag']), modified: String(headers['last-modified']) }
}

/** Uploads small files of these names, each with its name for content. */
export async function uploadAll(
  service: TestService,
  { user, names, query = '' }: { user: TestUser; names: readonly string[]; query?: string },
): Promise<void> {
  for (const name of names) {
    const content = Buffer.from(name)
    const reply = await upload(service, { method: 'PUT', user, name, query, content })
    expect({ name, status: reply.status }).toEqual({ name, status: 200 })
  }
}

/** Begins an upload in the ledger alone, as if its body took long. */
export async function beginUpload(
  { ledger, users }: TestService,
  { userId }: TestUser,
  { bytes = 0, name = 'under-way' } = {},
): Promise<Version> {
  const version = createVersion()
  const caller = await callerNamed(users, userId)
  const file = { name: parseFileName(name), version, objectKey: objectKey(userId, version) }
  await ledger.begin({ ...caller, ...file, bytes })
  return version
}

/** Stores a file in the ledger alone: content of this size would take a while to send. */
export async function commitUnsent(
  service: TestService,
  user: TestUser,
  { name, size }: { readonly name: string; readonly size: number },
): Promise<void> {
  const version = await beginUpload(service, user, { name, bytes: size })
  const caller = await callerNamed(service.users, user.userId)
  const file = { version, size, sha256: '0'.repeat(64), crc32: 0, visibility: undefined }
  await service.ledger.commit({ ...caller, ...file })
}

/** The etag that a reply names, as a header has it. */
export function etagOf(reply: RawExchange): string {
  return `"${String(jsonOf(reply)['etag'])}"`
}
