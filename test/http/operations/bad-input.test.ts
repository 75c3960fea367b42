import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ApiOperation, namesOf, OPERATIONS } from '../../catalogue/api-operations.ts'
import type { Sent } from '../../catalogue/operation.ts'
import { authorized, EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { expectFault } from '../admin/fixture.ts'
import { expectProblem, type Reply } from '../fixture.ts'

const FORMAT_ERROR = { status: 400, code: 'format_error' } as const

/** The lists of accounts; a link's takes what mail programs add to its address. */
const withQuery = (name: string) =>
  OPERATIONS.filter(({ queries, credentials }) => queries.includes(name) && credentials !== 'none')
const NO_LISTS = new Set(['getDocs', 'getOpenApi', 'getLiveness', 'getReadiness'])

/** Reads and writes of a file ignore what they do not know; lists, and what deletes them, do not. */
const withStrictQuery = OPERATIONS.filter(
  ({ listener, id, queries, credentials }) =>
    (listener === 'admin' && !NO_LISTS.has(id)) ||
    (queries.includes('limit') && credentials !== 'none') ||
    ['downloadArchive', 'purgeHistory'].includes(id),
)
const withJson = OPERATIONS.filter(({ takesJson }) => takesJson)
const withoutBody = OPERATIONS.filter(
  ({ listener, method }) => listener === 'admin' && ['GET', 'DELETE'].includes(method),
)
const ofUser = OPERATIONS.filter(({ template }) => template.startsWith('/admin/users/{user_id}'))

/** What is no limit: a number in a query is decimal digits. */
const NO_LIMITS = ['0', '1001', '-1', '1.5', 'x', '', '%205', '1e2', '01', '9007199254740993']

/** What no list has answered: no JSON, no key, a key of too many or too few parts, or one of other parts than ids. */
const NO_CURSORS = [
  '',
  'x',
  '*',
  'AAAA',
  ...[
    null,
    {},
    'a',
    5,
    [],
    ['\0'],
    ['ä', 'ä'],
    [''],
    ['', ''],
    [[null]],
    [true, 'a'],
    [1e20, 'a'],
  ].map(cursor),
  `${cursor(['a'])}=`,
]

function cursor(key: unknown): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

describe('each operation', () => {
  let service: TestService
  let scene: OwnScene
  let calls: number
  beforeAll(async () => {
    service = await openEmbedded(EVERY_OPERATION)
    scene = await createScene(service)
  })
  afterAll(() => service.stop())
  beforeEach(() => {
    calls = service.calls.count
  })

  /** Sends a request of the operation with other members, and asserts that nothing was changed. */
  async function request(
    { listener, sent }: ApiOperation,
    change: (sent: Sent) => Partial<Sent>,
  ): Promise<Reply> {
    const asked = sent(scene)
    const changed = { ...asked, ...change(asked) }
    const reply = await perform(service, listener, authorized(listener, changed, scene))
    expect(service.calls.changesSince(calls)).toEqual([])
    return reply
  }
  const query = (operation: ApiOperation, text: string) =>
    request(operation, ({ path }) => ({ path: `${path}${path.includes('?') ? '&' : '?'}${text}` }))
  const body = (operation: ApiOperation, text: string, headers: object = {}) =>
    request(operation, (sent) => ({
      body: text,
      headers: { 'Content-Type': 'application/json', ...sent.headers, ...headers },
    }))

  it.each(namesOf(withStrictQuery))(
    '%s refuses an unknown query parameter',
    async (_, operation) => {
      expectFault(await query(operation, 'dry_run=1'), 'dry_run')
    },
  )

  it.each(namesOf(withQuery('limit')))('%s refuses any other limit', async (_, operation) => {
    for (const limit of NO_LIMITS) expectFault(await query(operation, `limit=${limit}`), 'limit')
    expectFault(await query(operation, 'limit=1&limit=2'), 'limit')
  })

  it.each(namesOf(withQuery('cursor')))('%s refuses any other cursor', async (_, operation) => {
    for (const text of NO_CURSORS) {
      expectFault(await query(operation, `cursor=${encodeURIComponent(text)}`), 'cursor')
    }
    expectFault(await query(operation, 'cursor=1&cursor=2'), 'cursor')
  })

  it.each(namesOf(withJson))('%s refuses what is no JSON', async (_, operation) => {
    for (const text of [
      '{"bytes":',
      '{"bytes":5,}',
      '{"__proto__":{"bytes":5}}',
      '{"constructor":{"prototype":{"bytes":5}}}',
    ]) {
      expectProblem(await body(operation, text), FORMAT_ERROR)
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expectProblem(await body(operation, 'bytes=5', form), FORMAT_ERROR)
    expectProblem(await body(operation, '{}', { 'Content-Type': 'text/plain' }), FORMAT_ERROR)
  })

  it.each(namesOf(withJson))('%s refuses JSON that is no object', async (_, operation) => {
    for (const text of ['[]', '5', '"text"', 'true', 'null']) {
      expectProblem(await body(operation, text), FORMAT_ERROR)
    }
  })

  it.each(namesOf(withJson))('%s names an unknown member', async (_, operation) => {
    const { body: text = '{}' } = operation.sent(scene)
    const known = JSON.parse(text) as object
    expectFault(await body(operation, JSON.stringify({ ...known, colour: 'red' })), 'colour')
  })

  it.each(namesOf(withoutBody))('%s refuses a body', async (_, operation) => {
    expectProblem(await body(operation, '{}'), FORMAT_ERROR)
  })

  it.each(namesOf(ofUser))('%s refuses what is no user id', async (_, operation) => {
    for (const id of ['me', 'a%20b', 'a.b', '%C3%A4', 'a%2Fb', 'a'.repeat(65), '%00', '..%2F']) {
      const reply = await request(operation, ({ path }) => ({
        path: path.replace(/^\/admin\/users\/[^/?]+/, `/admin/users/${id}`),
      }))
      expectFault(reply, 'user_id')
    }
  })

  it.each(namesOf(ofUser.filter(({ id }) => id !== 'putUser')))(
    '%s of an unknown user is 404',
    async (_, operation) => {
      const { listener, sent } = operation
      const asked = sent({ ...scene, userId: randomUUID() })
      const reply = await perform(service, listener, authorized(listener, asked, scene))
      expectProblem(reply, { status: 404, code: 'not_found' })
    },
  )
})
