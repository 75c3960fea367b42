import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { remove } from '../file-requests.ts'
import {
  ask,
  expectNothingChanged,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  type Placed,
  placeFile,
  upload,
} from '../fixture.ts'
import { issue, problemOf, send } from '../scopes/scoped-requests.ts'
import { BATCH_PATH, batchOf } from './batch-requests.ts'

const ABSENT = createVersion()
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** An operation that is not one, and the member that it is refused for. */
const WRONG: readonly (readonly [string, unknown, string])[] = [
  ['no object', 'delete', 'operations'],
  ['no op', { name: 'a' }, 'op'],
  ['an unknown op', { op: 'upload', name: 'a' }, 'op'],
  ['no name', { op: 'delete' }, 'name'],
  ['a name that is a number', { op: 'delete', name: 1 }, 'name'],
  ['a member of another operation', { op: 'delete', name: 'a', overwrite: true }, 'overwrite'],
  ['a new name for an update', { op: 'update', name: 'a', new_name: 'b', keep: true }, 'new_name'],
  ['no new name', { op: 'rename', name: 'a' }, 'new_name'],
  ['a name for a restore', { op: 'restore', version: ABSENT, name: 'a' }, 'name'],
  ['a version that is none', { op: 'restore', version: 'none' }, 'version'],
  ['an unknown visibility', { op: 'update', name: 'a', visibility: 'all' }, 'visibility'],
  ['a time that is none', { op: 'update', name: 'a', expires_at: 'soon' }, 'expires_at'],
  ['an empty etag', { op: 'delete', name: 'a', if_match: '' }, 'if_match'],
]

/** What a batch is refused for before it reaches the ledger; and how many a user may have in progress. */
export function batchRefusalsSuite(open: OpenService): void {
  describe('a batch that is refused', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    const first = { op: 'delete', name: 'file.bin' }
    const batch = (operations: unknown) => batchOf(service, { user: placed.user, operations })
    const body = (text: string | Uint8Array, headers = JSON_TYPE) =>
      ask(service, { user: placed.user, method: 'POST', path: BATCH_PATH, headers, body: text })

    it.each(WRONG)('has %s', async (_, wrong, parameter) => {
      const more = ['parameter', 'operation']
      const reply = await batch([first, wrong])
      const problem = expectProblem(reply, { status: 400, code: 'invalid_parameter', more })
      expect(problem).toMatchObject({ parameter, operation: 1 })
      expectNothingChanged(service, placed)
    })

    it.each([
      ['none', []],
      ['too many', Array.from({ length: 1001 }, () => first)],
      ['an object', {}],
      ['nothing', undefined],
    ])('has %s as its operations', async (_, operations) => {
      const problem = expectProblem(await batch(operations), {
        status: 400,
        code: 'invalid_parameter',
      })
      expect(problem).toMatchObject({ parameter: 'operations' })
      expectNothingChanged(service, placed)
    })

    it('has a name that is none, an update of nothing, or no JSON', async () => {
      const more = ['operation']
      const names = [
        { op: 'delete', name: 'a//b' },
        { op: 'rename', name: 'a', new_name: '..' },
        { op: 'restore', version: ABSENT, new_name: '' },
      ]
      for (const operation of names) {
        expectProblem(await batch([operation]), { status: 400, code: 'invalid_file_name', more })
      }
      const nothing = [first, { op: 'update', name: 'a', ignore_missing: true }]
      expectProblem(await batch(nothing), { status: 400, code: 'format_error', more })
      for (const text of ['', '[]', '{"operations":', '{"__proto__":{},"operations":[]}']) {
        expectProblem(await body(text), { status: 400, code: 'format_error' })
      }
      expectNothingChanged(service, placed)
    })

    it.each([
      ['If-Match', '*'],
      ['If-None-Match', '*'],
      ['If-Unmodified-Since', 'Sat, 28 Nov 2026 00:00:00 GMT'],
    ])('has the header %s, which could mean any of its files', async (parameter, value) => {
      const text = JSON.stringify({ operations: [first] })
      const reply = await body(text, { ...JSON_TYPE, [parameter]: value })
      const problem = expectProblem(reply, { status: 400, code: 'invalid_parameter' })
      expect(problem).toMatchObject({ parameter })
      expectNothingChanged(service, placed)
    })

    it('is larger than 1 MiB, while one of that size is taken', async () => {
      const text = JSON.stringify({
        operations: [{ op: 'delete', name: 'none', ignore_missing: true }],
      })
      const large = text.padEnd(2 ** 20)
      expect((await body(large)).status).toBe(200)
      expectProblem(await body(`${large} `), { status: 400, code: 'format_error' })
    })

    it('is for a token that permits one operation, but not all of them', async () => {
      const { user } = placed
      await upload(service, { user, name: 'in-a', content: 'x', query: '?visibility=public' })
      await remove(service, { user, name: 'in-a' })
      const { versions } = jsonOf(await ask(service, { user, path: '/users/me/history' })) as {
        readonly versions: readonly { readonly version: string }[]
      }
      const version = versions[0]?.version
      await upload(service, { user, name: 'in-b', content: 'x' })
      const refusal = async (actions: readonly string[], operation: object) => {
        const token = await issue(service, user, { actions, prefix: 'in-' })
        const fine = { op: 'delete', name: 'in-none', ignore_missing: true }
        const operations = actions.includes('delete') ? [fine, operation] : [operation]
        const request = { method: 'POST', path: BATCH_PATH, headers: JSON_TYPE, token }
        const problem = await problemOf(
          await send(service, { ...request, body: JSON.stringify({ operations }) }),
        )
        return (
          problem && [problem.code, problem.required, (problem as { operation?: number }).operation]
        )
      }
      const rename = { op: 'rename', name: 'in-b', new_name: 'in-c' }
      const restore = { op: 'restore', version }
      const cases = [
        [['share'], { op: 'delete', name: 'in-b' }, ['scope_insufficient', 'delete', 0]],
        [['delete'], { op: 'delete', name: 'out' }, ['scope_insufficient', 'prefix', 1]],
        [['delete'], rename, ['scope_insufficient', 'create', 1]],
        [['delete', 'create'], { ...rename, new_name: 'out' }, ['scope_insufficient', 'prefix', 1]],
        [
          ['delete', 'create'],
          { ...rename, overwrite: true },
          ['scope_insufficient', 'replace', 1],
        ],
        [['delete', 'create'], { ...rename, keep: true }, ['scope_insufficient', 'replace', 1]],
        [
          ['delete'],
          { op: 'update', name: 'in-b', visibility: 'users' },
          ['scope_insufficient', 'share', 1],
        ],
        [
          ['share'],
          { op: 'update', name: 'in-b', keep: true },
          ['scope_insufficient', 'replace', 0],
        ],
        [['delete'], restore, ['scope_insufficient', 'history', 1]],
        [['history'], restore, ['scope_insufficient', 'create', 0]],
        [['history', 'create'], restore, ['scope_insufficient', 'share', 0]],
        [
          ['history', 'create'],
          { ...restore, new_name: 'out' },
          ['scope_insufficient', 'prefix', 0],
        ],
        [['history', 'create', 'share'], restore, ['scope_insufficient', 'read', 0]],
        [['history', 'replace', 'share', 'read'], restore, ['precondition_failed', undefined, 0]],
        [
          ['history', 'create', 'share', 'read'],
          { ...restore, new_name: 'in-b', overwrite: true },
          ['precondition_failed', undefined, 0],
        ],
        [['delete', 'create'], rename, undefined],
      ] as const
      for (const [actions, operation, expected] of cases) {
        expect([actions, operation, await refusal(actions, operation)]).toEqual([
          actions,
          operation,
          expected,
        ])
      }
    })

    it('is the third of a user in progress, or the 17th of all', async () => {
      const slow = async (user: TestUser): Promise<Socket> => {
        const socket = connect(service.port)
        onTestFinished(() => void socket.destroy())
        socket.on('error', () => undefined)
        const head = ['Host: localhost', `Cookie: ${user.cookie}`, 'Content-Type: application/json']
        socket.write(
          `POST ${BATCH_PATH} HTTP/1.1\r\n${head.join('\r\n')}\r\nContent-Length: 1000\r\n`,
        )
        socket.write('Expect: 100-continue\r\n\r\n')
        await once(socket, 'data')
        return socket
      }
      const sockets = [await slow(placed.user), await slow(placed.user)]
      const third = expectProblem(await batch([first]), { status: 429, code: 'too_many_requests' })
      expect(third).toMatchObject({ retry_after: 5 })
      expectNothingChanged(service, placed)
      const others = await Promise.all(Array.from({ length: 7 }, () => service.createUser(MIB)))
      for (const user of others) sockets.push(await slow(user), await slow(user))
      const last = await service.createUser(MIB)
      const reply = await batchOf(service, { user: last, operations: [first] })
      expectProblem(reply, { status: 503, code: 'unavailable' })
      for (const socket of sockets) socket.destroy()
      await expect.poll(async () => (await batch([first])).status).toBe(200)
    })
  })
}
