import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiOperation, namesOf, OPERATIONS } from '../../catalogue/api-operations.ts'
import { authorized, EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { call } from '../admin/fixture.ts'
import { expectProblem, type ExpectedProblem, jsonOf, type Reply, secretOf } from '../fixture.ts'

const MISSING = { status: 403, code: 'access_token_missing' } as const
const INVALID = { status: 403, code: 'access_token_invalid' } as const
const SUSPENDED = { status: 403, code: 'user_suspended' } as const
const UNAUTHORIZED = { status: 401, code: 'unauthorized' } as const
const NOT_FOUND = { status: 404, code: 'not_found' } as const

const ofToken = OPERATIONS.filter(({ anyOf }) => anyOf !== undefined)
const ofLink = OPERATIONS.filter(({ template }) => template.startsWith('/links/'))
const ofOperator = OPERATIONS.filter(
  ({ listener, credentials }) => listener === 'admin' && credentials !== 'none',
)

/** What operators see and end of a user until the purge is over. */
const UNTIL_PURGED = new Set([
  'getUser',
  'putUser',
  'deleteUser',
  'listUnfinishedUploads',
  'cancelUnfinishedUpload',
])

let service: TestService
let scene: OwnScene
beforeAll(async () => {
  service = await openEmbedded(EVERY_OPERATION)
  scene = await createScene(service)
})
afterAll(() => service.stop())

/** Asserts that the request is refused before any port is called that could change something. */
async function expectRefusal(
  operation: ApiOperation,
  caller: OwnScene | undefined,
  expected: ExpectedProblem,
): Promise<Reply> {
  const { listener, sent } = operation
  const calls = service.calls.count
  const asked = sent(caller ?? scene)
  const reply = await perform(
    service,
    listener,
    caller === undefined ? asked : authorized(listener, asked, caller),
  )
  expect(reply.status).toBe(expected.status)
  if (operation.method !== 'HEAD') expectProblem(reply, expected)
  expect(service.calls.changesSince(calls)).toEqual([])
  return reply
}

describe('each operation with a token', () => {
  it.each(namesOf(ofToken.filter(({ credentials }) => credentials === 'required')))(
    '%s refuses a request without one',
    async (_, operation) => {
      await expectRefusal(operation, undefined, MISSING)
    },
  )

  it.each(namesOf(ofToken))('%s refuses one that was never issued', async (_, operation) => {
    await expectRefusal(operation, { ...scene, token: `${scene.token}x` }, INVALID)
  })

  it.each(namesOf(ofToken))('%s refuses a revoked one', async (_, operation) => {
    const { userId } = scene.user
    const terms = { userId, label: '', expiresInSeconds: undefined }
    const { secret, tokenId } = await service.accessTokens.issue(terms)
    await service.accessTokens.revoke({ userId, tokenId })
    await expectRefusal(operation, { ...scene, token: secret }, INVALID)
  })
})

describe('each operation of a suspended user', () => {
  let suspended: OwnScene
  beforeAll(async () => {
    suspended = await createScene(service)
    await service.users.setUserStatus(suspended.user.userId, 'suspended')
  })

  it.each(namesOf(ofToken))('%s is refused', async (_, operation) => {
    await expectRefusal(operation, suspended, SUSPENDED)
  })

  it.each(namesOf(ofLink))('%s finds no link', async (_, operation) => {
    await expectRefusal(operation, suspended, NOT_FOUND)
  })
})

describe('each operation of a deleted user', () => {
  let deleted: OwnScene
  beforeAll(async () => {
    deleted = await createScene(service)
    await service.users.deleteUser(deleted.user.userId)
  })

  it.each(namesOf(ofToken))('%s is refused', async (_, operation) => {
    await expectRefusal(operation, deleted, INVALID)
  })

  it.each(namesOf(ofLink))('%s finds no link', async (_, operation) => {
    await expectRefusal(operation, deleted, NOT_FOUND)
  })

  it.each(
    namesOf(
      ofOperator.filter(
        ({ id, template }) => template.includes('{user_id}') && !UNTIL_PURGED.has(id),
      ),
    ),
  )('%s finds no user', async (_, operation) => {
    const asked = authorized('admin', operation.sent(deleted), deleted)
    expect((await perform(service, 'admin', asked)).status).toBe(404)
  })
})

describe('each operation of a link that was revoked', () => {
  let revoked: OwnScene
  beforeAll(async () => {
    revoked = await createScene(service)
    const { userId, token } = revoked
    const listed = await call(service, { method: 'GET', path: `/${userId}/links` })
    const { links } = jsonOf(listed) as { readonly links: readonly { readonly link_id: string }[] }
    for (const { link_id: id } of links) {
      const sent = { method: 'DELETE', path: `/users/me/links/${id}` }
      await perform(service, 'public', authorized('public', sent, { token }))
    }
  })

  it.each(namesOf(ofLink))('%s finds no link', async (_, operation) => {
    await expectRefusal(operation, revoked, NOT_FOUND)
  })
})

describe('each operation of an operator', () => {
  it.each(namesOf(ofOperator))('%s refuses a request without the token', async (_, operation) => {
    const reply = await expectRefusal(operation, undefined, UNAUTHORIZED)
    expect(reply.headers['www-authenticate']).toBe('Bearer')
  })

  it.each(namesOf(ofOperator))('%s refuses the token of a user', async (_, operation) => {
    const sent = operation.sent(scene)
    const headers = { ...sent.headers, Authorization: `Bearer ${secretOf(scene.user)}` }
    expectProblem(await perform(service, 'admin', { ...sent, headers }), UNAUTHORIZED)
  })
})
