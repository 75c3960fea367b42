import { forgetChanges } from '../../support/forget-changes.ts'
import { WEBHOOK_EVENTS } from '../../../src/core/webhooks/webhook-events.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { park } from '../admin/webhooks-suite.ts'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { ERROR_CODES, type ErrorCode } from '../../../src/core/error-codes.ts'
import { createFreeSpace } from '../../../src/core/uploads/free-space.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { MAX_LINKS } from '../../../src/core/links/link.ts'
import { addOperator, ADMIN_OPTIONS, call, callAs, OPERATORS, send } from '../admin/fixture.ts'
import { filePart, multipartBody } from '../../support/http/multipart-body.ts'
import { never, put } from '../../support/objects.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { append, cancel, create, createUpload, finishElsewhere } from '../resumable/tus-requests.ts'
import { beginUpload, change } from '../file-requests.ts'
import {
  ask,
  download,
  expectProblem,
  headOf,
  jsonOf,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  type Reply,
  SHORT_LINGER,
  upload,
} from '../fixture.ts'

const LIMITS = {
  maxFiles: 2,
  maxUploads: 1,
  maxUnfinished: 1,
  maxFileSize: 100_000,
  maxArchivedFiles: 1,
  idleTimeoutMs: 1_000,
  ...SHORT_LINGER,
}

/** Every code of the closed list, each provoked over HTTP on a user of 10,000 bytes with one file. */
export function everyCodeSuite(open: OpenService): void {
  describe('the code', () => {
    let service: TestService
    beforeAll(async () => {
      // Room for the small files of all others.
      const space = createFreeSpace({
        folders: [{ path: 'any', holdsObjects: true }],
        minBytes: 1_000_000,
        measure: async () => ({ bytes: 1_050_000, inodes: Infinity }),
      })
      const url = `http://127.0.0.1:${await freePort()}/`
      const webhooks = { url, secrets: [Buffer.alloc(32)], events: new Set(WEBHOOK_EVENTS) }
      service = await open({ ...ADMIN_OPTIONS, ...LIMITS, baseCapacity: 0, space, webhooks })
    })
    afterAll(() => service.stop())

    it.each(ERROR_CODES)('%s is what a client gets', async (code) => {
      const placed = await placeFile(service, { capacity: 10_000 })
      const [status, provoke] = PROVOCATIONS[code]
      expectProblem(await provoke({ ...placed, service }), { status, code })
    })
  })
}

interface Scene extends Placed {
  readonly service: TestService
}

type Provocation = readonly [status: number, provoke: (scene: Scene) => Promise<Reply>]

/** The least that a client, or a fault, has to do for each code. One that is missing here does not compile. */
const PROVOCATIONS: Readonly<Record<ErrorCode, Provocation>> = {
  format_error: [
    400,
    ({ service, user }) => upload(service, { user, headers: { 'Content-Type': 'text/plain' } }),
  ],
  missing_file_part: [
    400,
    ({ service, user }) => {
      const form = multipartBody([{ name: 'file', content: 'no filename' }])
      return upload(service, { user, form })
    },
  ],
  multiple_file_parts: [
    400,
    ({ service, user }) => {
      const form = multipartBody([filePart('one'), filePart('two')])
      return upload(service, { user, form })
    },
  ],
  truncated_body: [
    400,
    ({ service, user }) => {
      const form = multipartBody([filePart('whole')]).subarray(0, -10)
      return upload(service, { user, form })
    },
  ],
  invalid_file_name: [400, ({ service, user }) => download(service, { user, name: 'a//b' })],
  invalid_parameter: [
    400,
    ({ service, user }) => ask(service, { user, path: '/users/me/repo?limit=0' }),
  ],
  digest_mismatch: [
    400,
    ({ service, user }) => {
      const headers = { 'Repr-Digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
      return upload(service, { user, headers, content: 'other' })
    },
  ],
  access_token_missing: [403, ({ service }) => upload(service, { content: 'x' })],
  scope_insufficient: [
    403,
    async ({ service, user }) => {
      const { userId } = user
      const terms = { userId, label: '', expiresInSeconds: undefined }
      const scope = { actions: ['create'] as const }
      const { secret } = await service.accessTokens.issue({ ...terms, scope })
      return download(service, { headers: { Authorization: `Bearer ${secret}` } })
    },
  ],
  access_token_limit_exceeded: [
    403,
    async ({ service, user }) => {
      const { userId } = user
      const terms = { userId, label: '', expiresInSeconds: undefined }
      const issue = () => service.accessTokens.issue(terms).catch(() => undefined)
      while ((await Promise.all(Array.from({ length: 50 }, issue))).every(Boolean));
      const path = '/users/me/access-tokens'
      const headers = { 'Content-Type': 'application/json' }
      return ask(service, { user, method: 'POST', path, headers, body: '{}' })
    },
  ],
  access_token_invalid: [
    403,
    ({ service }) => download(service, { headers: { Cookie: 'access_token=wrong' } }),
  ],
  user_suspended: [
    403,
    async ({ service, user }) => {
      await call(service, {
        method: 'PATCH',
        path: `/${user.userId}`,
        body: { status: 'suspended' },
      })
      return download(service, { user })
    },
  ],
  archive_too_large: [
    400,
    async ({ service, user }) => {
      await upload(service, { user, name: 'second', content: 'x' })
      return download(service, { user, path: '/users/me/archive' })
    },
  ],
  operator_forbidden: [
    403,
    async ({ service }) => {
      const token = await addOperator(service, { name: 'viewer', role: 'viewer' })
      return callAs(service, { token, method: 'POST' })
    },
  ],
  operator_exists: [
    409,
    async ({ service }) => {
      await addOperator(service, { name: 'twin', role: 'viewer' })
      return call(service, { method: 'POST', at: OPERATORS, body: { name: 'twin', role: 'admin' } })
    },
  ],
  operator_count_exceeded: [
    403,
    async ({ service }) => {
      const reply = await untilRefused((at) => {
        const body = { name: `n${at}`, role: 'viewer' }
        return call(service, { method: 'POST', at: OPERATORS, body })
      })
      await call(service, { method: 'DELETE', at: `${OPERATORS}/n0` })
      return reply
    },
  ],
  link_count_exceeded: [
    403,
    async ({ service, user }) => {
      const add = () => createLink(service, user, { kind: 'download', prefix: '' })
      for (let links = 0; links < MAX_LINKS; links += 50) {
        await Promise.all(Array.from({ length: 50 }, add))
      }
      return add()
    },
  ],
  link_limit_exceeded: [
    403,
    async ({ service, user }) => {
      const link = await createLink(service, user, { kind: 'drop', prefix: '', max_bytes: 1 })
      const { secret } = jsonOf(link) as { readonly secret: string }
      return ask(service, { method: 'PUT', path: `/links/${secret}/f`, body: 'two' })
    },
  ],
  link_password_invalid: [
    403,
    async ({ service, user }) => {
      const path = await lockedPath(service, user)
      const headers = { 'Content-Type': 'application/json' }
      return ask(service, { method: 'POST', path, headers, body: '{"password":"wrong"}' })
    },
  ],
  link_password_required: [
    401,
    async ({ service, user, name }) =>
      ask(service, { path: `${await lockedPath(service, user)}/${name}` }),
  ],
  capacity_exceeded: [
    403,
    ({ service, user }) => upload(service, { user, content: Buffer.alloc(20_000) }),
  ],
  file_count_exceeded: [
    403,
    async ({ service, user }) => {
      await upload(service, { user, name: 'second' })
      return upload(service, { user, name: 'third' })
    },
  ],
  cross_site_request: [
    403,
    ({ service, user }) => upload(service, { user, headers: { 'Sec-Fetch-Site': 'cross-site' } }),
  ],
  not_found: [404, ({ service, user }) => download(service, { user, name: 'none' })],
  method_not_allowed: [
    405,
    ({ service, user }) => download(service, { user, owner: user.userId, method: 'DELETE' }),
  ],
  request_timeout: [
    408,
    ({ service: { port }, user }) => rawRequest({ port, send: [headOf({ user, length: 1000 })] }),
  ],
  file_exists: [
    409,
    async ({ service, user, name }) => {
      await upload(service, { user, name: 'second' })
      return change(service, { user, name, body: { name: 'second' } })
    },
  ],
  user_exists: [
    409,
    async ({ service, user }) => {
      const path = `/${user.userId}`
      await call(service, { method: 'DELETE', path })
      return call(service, { method: 'PUT', path })
    },
  ],
  precondition_failed: [
    412,
    ({ service, user }) => upload(service, { user, headers: { 'If-None-Match': '*' } }),
  ],
  file_too_large: [
    413,
    ({ service, user }) => upload(service, { user, content: Buffer.alloc(200_000) }),
  ],
  range_not_satisfiable: [
    416,
    ({ service, user }) => download(service, { user, headers: { Range: 'bytes=1000-' } }),
  ],
  too_many_requests: [
    429,
    async ({ service, user }) => {
      await beginUpload(service, user)
      return upload(service, { user, content: 'x' })
    },
  ],
  request_head_too_large: [
    431,
    ({ service, user }) => ask(service, { user, path: `${pathOf('a')}?${'x'.repeat(20_000)}` }),
  ],
  tus_version_unsupported: [
    412,
    ({ service, user }) => create(service, { user, headers: { 'Tus-Resumable': '0.2.2' } }),
  ],
  unsupported_media_type: [
    415,
    ({ service, user }) =>
      create(service, { user, length: 1, body: 'x', headers: { 'Content-Type': 'text/plain' } }),
  ],
  offset_mismatch: [
    409,
    async ({ service, user }) => {
      const upload = await createUpload(service, { user, length: 10 })
      return append(service, upload, { offset: 5, body: 'x' })
    },
  ],
  upload_gone: [
    410,
    async ({ service, user }) => {
      const upload = await createUpload(service, { user, length: 10 })
      await append(service, upload, { body: 'x' })
      await cancel(service, upload)
      return cancel(service, upload)
    },
  ],
  cursor_expired: [
    410,
    async ({ service, user }) => {
      const { body } = await ask(service, { user, path: '/users/me/changes' })
      const { next_cursor: cursor } = JSON.parse(body.toString()) as { next_cursor: string }
      await upload(service, { user, content: 'x' })
      await forgetChanges(service.ledger, { lifetimeMs: -60_000, limit: 1000 })
      return ask(service, { user, path: `/users/me/changes?cursor=${cursor}` })
    },
  ],
  version_gone: [
    410,
    async ({ service, user }) => {
      const { version } = jsonOf(await upload(service, { user, name: 'past', content: 'x' }))
      await ask(service, { user, method: 'DELETE', path: pathOf('past') })
      const path = `/users/me/history/${String(version)}`
      await ask(service, { user, method: 'DELETE', path })
      return ask(service, { user, path })
    },
  ],
  upload_length_exceeded: [
    413,
    async ({ service, user }) => {
      const upload = await createUpload(service, { user, length: 10 })
      return append(service, upload, { body: 'more than ten' })
    },
  ],
  upload_busy: [
    423,
    async ({ service, user }) => {
      const upload = await createUpload(service, { user, length: 1 })
      await finishElsewhere(service, { user, version: upload.id })
      return append(service, upload, { offset: 1 })
    },
  ],
  checksum_mismatch: [
    460,
    async ({ service, user }) => {
      const upload = await createUpload(service, { user, length: 1 })
      const headers = { 'Upload-Checksum': `sha256 ${Buffer.alloc(32).toString('base64')}` }
      return append(service, upload, { body: 'x', headers })
    },
  ],
  unfinished_uploads_exceeded: [
    403,
    async ({ service, user }) => {
      await createUpload(service, { user, length: 10 })
      return create(service, { user, name: 'second', length: 10 })
    },
  ],
  unauthorized: [401, ({ service }) => send(service, { method: 'GET' })],
  internal_error: [
    500,
    async (scene) => {
      const { objects } = scene.service
      const key = await keyOf(scene)
      await objects.remove({ key, signal: never() })
      await put(objects, { key, content: Buffer.from('other') })
      return download(scene.service, scene)
    },
  ],
  insufficient_storage: [
    503,
    ({ service, user }) => upload(service, { user, content: Buffer.alloc(90_000) }),
  ],
  webhook_failed: [
    502,
    async ({ service }) => {
      const id = await park(service)
      return call(service, { method: 'POST', at: `/admin/webhooks/parked/${id}/retry` })
    },
  ],
  unavailable: [
    503,
    async (scene) => {
      await scene.service.objects.remove({ key: await keyOf(scene), signal: never() })
      return download(scene.service, scene)
    },
  ],
}

function createLink(service: TestService, user: TestUser, terms: object) {
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify(terms)
  return ask(service, { user, method: 'POST', path: '/users/me/links', headers, body })
}

/** The first answer that is no success. */
async function untilRefused(attempt: (at: number) => Promise<Reply>): Promise<Reply> {
  for (let at = 0; ; at += 1) {
    const reply = await attempt(at)
    if (reply.status >= 300) return reply
  }
}

async function lockedPath(service: TestService, user: TestUser): Promise<string> {
  const terms = { kind: 'download', prefix: '', password: 'right' }
  return `/links/${String(jsonOf(await createLink(service, user, terms))['secret'])}`
}

/** Where the content of the file is. */
async function keyOf({ service, user, name }: Scene) {
  const file = await service.ledger.findFile({
    userId: user.userId,
    name: parseFileName(name),
    audience: 'owner',
  })
  if (file === undefined) throw new Error('There is no such file.')
  return file.objectKey
}
