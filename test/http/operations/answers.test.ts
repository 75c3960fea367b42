import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiOperation, namesOf, OPERATIONS } from '../../catalogue/api-operations.ts'
import type { Sent } from '../../catalogue/operation.ts'
import { authorized, EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { expectProblem, type Reply } from '../fixture.ts'

const APP = 'https://app.example.com'
const EVIL = 'https://evil.example'

const INERT = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

const ofPublic = OPERATIONS.filter(({ listener }) => listener === 'public')
const withCookie = ofPublic.filter(
  ({ method, anyOf, id }) =>
    id.endsWith('Session') || (anyOf !== undefined && !['GET', 'HEAD', 'OPTIONS'].includes(method)),
)

/** Requests whose response is made elsewhere than in a handler. */
const OTHERS: readonly (readonly [status: number, sent: (scene: OwnScene) => Sent])[] = [
  [206, ({ file }) => ({ path: `/users/me/repo/${file}`, headers: { Range: 'bytes=1-2' } })],
  [304, ({ file }) => ({ path: `/users/me/repo/${file}`, headers: { 'If-None-Match': '*' } })],
  [416, ({ file }) => ({ path: `/users/me/repo/${file}`, headers: { Range: 'bytes=5000-' } })],
  [404, () => ({ path: '/nothing' })],
  [400, () => ({ path: '/users/me/repo/%zz' })],
  [400, () => ({ path: '/users/me/repo/a#b' })],
  [400, ({ file }) => ({ path: `/users/me/repo/${file}`, headers: { Expect: 'banana' } })],
]

let service: TestService
let receiver: WebhookReceiver
let scene: OwnScene
const answers = new Map<ApiOperation, readonly [Reply, Reply]>()
beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const webhooks = { ...EVERY_OPERATION.webhooks, url: receiver.url }
  service = await openEmbedded({ ...EVERY_OPERATION, webhooks, allowedOrigins: [APP] })
  scene = await createScene(service)
})
afterAll(async () => {
  await service.stop()
  await receiver[Symbol.asyncDispose]()
})

/** The responses to a request from an allowed origin that is refused, and to one that succeeds. */
async function answersOf(operation: ApiOperation): Promise<readonly [Reply, Reply]> {
  const known = answers.get(operation)
  if (known !== undefined) return known
  const { listener, sent, refused, changes, status } = operation
  const own = changes === undefined ? scene : await createScene(service, scene)
  const send = (request: Sent): Promise<Reply> => {
    const asked = authorized(listener, request, own)
    const headers = { ...asked.headers, ...(listener === 'public' && { Origin: APP }) }
    return perform(service, listener, { ...asked, headers })
  }
  const replies = [await send(refused(own)[0]), await send(sent(own))] as const
  expect(replies.map((reply) => reply.status)).toEqual([refused(own)[1], status])
  answers.set(operation, replies)
  return replies
}

describe('each operation', () => {
  it.each(namesOf(OPERATIONS.filter(({ id }) => id !== 'getDocs')))(
    '%s answers with nothing that a browser runs',
    async (_, operation) => {
      for (const { headers } of await answersOf(operation)) {
        expect(headers).toMatchObject(INERT)
        expect(headers['content-type'] ?? '').toMatch(
          /^(|application\/(octet-stream|zip|json|problem\+json)(; charset=utf-8)?)$/,
        )
      }
    },
  )

  it.each(namesOf(ofPublic))('%s answers pages of an allowed origin', async (_, operation) => {
    for (const { headers } of await answersOf(operation)) {
      expect(headers).toMatchObject({
        'access-control-allow-origin': APP,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': expect.stringMatching(
          /\bETag\b.*\bX-Request-Id\b/,
        ) as string,
        vary: expect.stringContaining('Origin') as string,
      })
    }
  })

  it.each(namesOf(OPERATIONS))('%s answers no page of another origin', async (_, operation) => {
    const { listener, sent } = operation
    const reads = ['GET', 'HEAD', 'OPTIONS'].includes(operation.method)
    const asked = listener === 'admin' || !reads ? operation.refused(scene)[0] : sent(scene)
    const headers = { ...asked.headers, Cookie: scene.user.cookie, Origin: EVIL }
    const reply = await perform(service, listener, { ...asked, headers })
    expect(sharedHeaders(reply)).toEqual([])
  })

  it.each(namesOf(withCookie.filter(({ method }) => method !== 'GET')))(
    '%s refuses the cookie that a page of another origin sends',
    async (_, operation) => {
      const asked = operation.sent(scene)
      const calls = service.calls.count
      for (const more of [
        { Origin: EVIL },
        { Origin: 'null' },
        { 'Sec-Fetch-Site': 'cross-site' },
      ]) {
        const headers = { ...asked.headers, Cookie: scene.user.cookie, ...more }
        const reply = await perform(service, 'public', { ...asked, headers })
        expectProblem(reply, { status: 403, code: 'cross_site_request' })
      }
      expect(service.calls.changesSince(calls)).toEqual([])
    },
  )

  it.each(namesOf(ofPublic))(
    '%s names the methods of its path to a preflight',
    async (_, operation) => {
      const { path } = operation.sent(scene)
      const headers = { Origin: APP, 'Access-Control-Request-Method': 'PUT' }
      const reply = await perform(service, 'public', { method: 'OPTIONS', path, headers })
      const allowed = reply.headers['access-control-allow-methods']?.split(', ') ?? []
      expect(reply.status).toBe(204)
      expect(allowed).toEqual(operation.methods)
    },
  )

  it.each(namesOf(ofPublic.filter(({ anyOf }) => anyOf !== undefined)))(
    '%s varies with the credentials that it reads',
    async (_, operation) => {
      const [, { headers }] = await answersOf(operation)
      expect(headers['vary']?.split(', ')).toEqual(
        expect.arrayContaining(['Cookie', 'Authorization']),
      )
    },
  )
})

describe('a request beside the operations', () => {
  it.each(OTHERS)(
    'gets %i, which is inert, and readable for allowed origins',
    async (status, sent) => {
      const asked = authorized('public', sent(scene), scene)
      const headers = { ...asked.headers, Origin: APP }
      const reply = await perform(service, 'public', { ...asked, headers })
      expect(reply.status).toBe(status)
      expect(reply.headers).toMatchObject({ ...INERT, 'access-control-allow-origin': APP })
    },
  )
})

it('no operation answers another page without allowed origins', async () => {
  const closed = await openEmbedded(EVERY_OPERATION)
  const own = await createScene(closed)
  for (const { refused } of ofPublic) {
    const [asked] = refused(own)
    for (const origin of ['http://localhost', APP, 'null']) {
      const headers = { ...asked.headers, Origin: origin }
      expect(sharedHeaders(await perform(closed, 'public', { ...asked, headers }))).toEqual([])
    }
  }
  await closed.stop()
})

function sharedHeaders({ headers }: Reply): readonly string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'))
}
