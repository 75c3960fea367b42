import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Action, ACTIONS } from '../../../src/core/auth/scope.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, type OpenService, upload } from '../fixture.ts'
import { base64, TUS } from '../resumable/tus-requests.ts'
import { issue, type Problem, problemOf, send, type Sent } from './scoped-requests.ts'

/** What each operation needs: one of these, or nothing, since a token that it does not permit is like none. */
interface Operation extends Sent {
  readonly anyOf: readonly Action[]
  /** What it needs in addition, which no token of the matrix has. */
  readonly and?: Action
}

/** Names nothing that exists, so that one user serves all requests. */
const ABSENT = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'
const TYPE = { 'Content-Type': 'application/json' }
const UPLOAD = ['create', 'replace'] as const

const tus = (name: string) => ({ ...TUS, 'Upload-Metadata': `filename ${base64(name)}` })
const form = (content: string) => ({
  headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  body: `--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${content}\r\n--b--\r\n`,
})
const json = (body: object) => ({ headers: TYPE, body: JSON.stringify(body) })

/** By `operationId`, as in the OpenAPI document. Of operations with several needs, this is what the head needs. */
const OPERATIONS: Readonly<Record<string, (names: Names) => Operation>> = {
  // Any token will do.
  getSession: () => ({ anyOf: ACTIONS, path: '/session' }),
  listOwnAccessTokens: () => ({ anyOf: ['share'], path: '/users/me/access-tokens' }),
  createAccessToken: () => ({
    anyOf: ['share'],
    method: 'POST',
    path: '/users/me/access-tokens',
    ...json({ expires_in: 0 }),
  }),
  revokeOwnAccessToken: () => ({
    anyOf: ['share'],
    method: 'DELETE',
    path: `/users/me/access-tokens/${ABSENT}`,
  }),
  listLinks: () => ({ anyOf: ['share'], path: '/users/me/links' }),
  createLink: () => ({
    anyOf: ['share'],
    method: 'POST',
    path: '/users/me/links',
    ...json({ kind: 'other' }),
  }),
  revokeLink: () => ({ anyOf: ['share'], method: 'DELETE', path: `/users/me/links/${ABSENT}` }),
  getCapacity: () => ({ anyOf: ['read'], path: '/users/me/capacity' }),
  listChanges: () => ({ anyOf: ['read'], path: '/users/me/changes' }),
  listHistory: ({ name }) => ({
    anyOf: ['history'],
    path: `/users/me/history?name=${encodeURIComponent(name)}`,
  }),
  purgeHistory: () => ({ anyOf: ['history'], method: 'DELETE', path: '/users/me/history' }),
  downloadPastVersion: () => ({ anyOf: ['history'], path: `/users/me/history/${ABSENT}` }),
  purgePastVersion: () => ({
    anyOf: ['history'],
    method: 'DELETE',
    path: `/users/me/history/${ABSENT}`,
  }),
  restorePastVersion: () => ({
    anyOf: ['history'],
    and: 'create',
    method: 'POST',
    path: `/users/me/history/${ABSENT}/restore`,
    ...json({ name: 5 }),
  }),
  listOwnFiles: ({ name }) => ({
    anyOf: ['read'],
    path: `/users/me/repo?prefix=${encodeURIComponent(name)}`,
  }),
  downloadArchive: ({ name }) => ({
    anyOf: ['read'],
    path: `/users/me/archive?name=${encodeURIComponent(name)}`,
  }),
  uploadFile: ({ path }) => ({ anyOf: UPLOAD, method: 'POST', path, ...form('x') }),
  putFile: ({ path }) => ({ anyOf: UPLOAD, method: 'PUT', path, body: 'x' }),
  downloadOwnFile: ({ path }) => ({ anyOf: ['read'], path }),
  deleteFile: ({ path }) => ({ anyOf: ['delete'], method: 'DELETE', path }),
  changeFile: ({ path }) => ({
    anyOf: ['share', 'delete', 'replace'],
    method: 'PATCH',
    path,
    ...json({}),
  }),
  changeFiles: ({ name }) => ({
    anyOf: ['delete'],
    method: 'POST',
    path: '/users/me/batch',
    ...json({ operations: [{ op: 'delete', name }] }),
  }),
  createUpload: ({ name }) => ({
    anyOf: UPLOAD,
    method: 'POST',
    path: '/users/me/uploads',
    headers: { ...tus(name), 'Upload-Length': '9999999' },
  }),
  listUploads: () => ({ anyOf: UPLOAD, path: '/users/me/uploads' }),
  getUploadOffset: () => ({
    anyOf: UPLOAD,
    method: 'HEAD',
    path: `/users/me/uploads/${ABSENT}`,
    headers: TUS,
  }),
  appendToUpload: () => ({
    anyOf: UPLOAD,
    method: 'PATCH',
    path: `/users/me/uploads/${ABSENT}`,
    headers: { ...TUS, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' },
    body: 'x',
  }),
  cancelUpload: () => ({
    anyOf: UPLOAD,
    method: 'DELETE',
    path: `/users/me/uploads/${ABSENT}`,
    headers: TUS,
  }),
  postToUpload: () => ({
    anyOf: UPLOAD,
    method: 'POST',
    path: `/users/me/uploads/${ABSENT}`,
    headers: { ...TUS, 'X-HTTP-Method-Override': 'DELETE' },
  }),
  getUpload: () => ({ anyOf: UPLOAD, path: `/users/me/uploads/${ABSENT}` }),
  listFiles: ({ owner }) => ({ anyOf: ['read'], path: `/users/${owner}/repo` }),
  downloadFile: ({ path, owner }) => ({ anyOf: ['read'], path: path.replace('me', owner) }),
}

function operationOf(id: string, names: Names): Operation {
  const operation = OPERATIONS[id]
  if (operation === undefined) throw new TypeError(`${id} is not in the table`)
  return operation(names)
}

/** The same for every token. */
const PUBLIC = new Set(['describeUploads'])

/** Those whose path or query names a file. */
const NAMED = [
  'listHistory',
  'listOwnFiles',
  'downloadArchive',
  'uploadFile',
  'putFile',
  'downloadOwnFile',
  'deleteFile',
  'changeFile',
  'changeFiles',
  'createUpload',
  'downloadFile',
] as const

interface Names {
  readonly name: string
  readonly path: string
  readonly owner: string
}

const NAMES = {
  never: 'in-never',
  existing: 'in-there',
  absent: 'in-nowhere',
  outside: 'out-there',
  unknown: 'out-nowhere',
}

export function scopeMatrixSuite(open: OpenService): void {
  describe('a token with a scope', () => {
    let service: TestService
    let user: TestUser
    const tokens = new Map<Action, { readonly wide: string; readonly narrow: string }>()
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000 })
      user = await service.createUser(MIB)
      for (const name of [NAMES.existing, NAMES.outside])
        await upload(service, { user, name, content: 'x' })
      for (const action of ACTIONS) {
        const [wide, narrow] = await Promise.all([
          issue(service, user, { actions: [action] }),
          issue(service, user, { actions: [action], prefix: 'in-' }),
        ])
        tokens.set(action, { wide, narrow })
      }
    })
    afterAll(() => service.stop())

    const at = (name: string): Names => ({
      name,
      path: `/users/me/repo/${name}`,
      owner: user.userId,
    })
    const tokenOf = (action: Action) => tokens.get(action) ?? { wide: '', narrow: '' }
    async function refusalOf(
      id: string,
      name: string,
      token: string,
    ): Promise<Problem | undefined> {
      const { anyOf: _, and: __, ...sent } = operationOf(id, at(name))
      const problem = await problemOf(await send(service, { ...sent, token }))
      return problem?.code === 'scope_insufficient' ? problem : undefined
    }

    it('is asked for by every operation that takes a token', async () => {
      const document = JSON.parse(await readFile('api/openapi.json', 'utf8')) as Document
      const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
      const withToken = operations.filter(({ security }) => (security ?? []).length > 0)
      const ids = withToken.map(({ operationId }) => operationId.replace(/^head([A-Z])/, lower))
      const known = new Set([...Object.keys(OPERATIONS), ...PUBLIC])
      expect(new Set(ids)).toEqual(known)
    })

    it.each(Object.keys(OPERATIONS))(
      '%s: is refused without the action, and before the body, whether or not there is a file',
      async (id) => {
        const { anyOf, and } = operationOf(id, at(NAMES.absent))
        await upload(service, { user, name: NAMES.existing, content: 'x' })
        for (const action of ACTIONS) {
          const { wide } = tokenOf(action)
          const required = anyOf.includes(action) ? and : anyOf[0]
          const refusal = await refusalOf(id, NAMES.existing, wide)
          expect({ action, isRefused: refusal !== undefined }).toEqual({
            action,
            isRefused: required !== undefined,
          })
          // Only refused requests have this name, so no file gets it.
          const same = refusal && (await refusalOf(id, NAMES.never, wide))
          expect(refusal).toEqual(same)
          // An answer to HEAD has no body.
          const told = id === 'getUploadOffset' ? required : refusal?.required
          expect(told).toBe(required)
        }
      },
    )

    it.each(NAMED)(
      '%s: is refused outside the prefix, whether or not there is a file',
      async (id) => {
        const { anyOf } = operationOf(id, at(NAMES.absent))
        for (const action of anyOf) {
          const { narrow } = tokenOf(action)
          expect(await refusalOf(id, NAMES.absent, narrow)).toBeUndefined()
          const refusals = [
            await refusalOf(id, NAMES.outside, narrow),
            await refusalOf(id, NAMES.unknown, narrow),
          ]
          const [first] = refusals
          expect(first).toMatchObject({ status: 403, required: 'prefix' })
          expect(refusals).toEqual([first, first])
        }
      },
    )
  })
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly operationId: string; readonly security?: readonly object[] }>
      >
    >
  >
}

function lower(_match: string, letter: string): string {
  return letter.toLowerCase()
}
