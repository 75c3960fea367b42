import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { list } from '../file-requests.ts'
import { ask, expectProblem, jsonOf, MIB, type OpenService, upload } from '../fixture.ts'
import { issue, problemOf, send } from '../scopes/scoped-requests.ts'
import { BATCH_PATH, batchOf, type Result } from './batch-requests.ts'

/** `POST /users/me/batch` with operations by prefix. */
export function prefixBatchSuite(open: OpenService): void {
  describe('a batch with operations by prefix', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      for (const name of ['a/', 'a/1', 'a/b/2', 'ab', 'c/1']) await put(name)
    })

    const put = async (name: string) => {
      const content = name.endsWith('/') ? '' : name
      const reply = await upload(service, { user, name, content })
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
    }
    const batch = (...operations: readonly object[]) => batchOf(service, { user, operations })
    const done = async (...operations: readonly object[]) => {
      const reply = await batch(...operations)
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      return (jsonOf(reply) as { readonly results: readonly Result[] }).results
    }
    const names = async () =>
      (jsonOf(await list(service, { user })) as { files: { name: string }[] }).files.map(
        (file) => file.name,
      )

    const changes = (query = '') => ask(service, { user, path: `/users/me/changes${query}` })

    it('renames and deletes folders with all below, and says how many files', async () => {
      const cursor = String(jsonOf(await changes())['next_cursor'])
      const results = await done(
        { op: 'rename', prefix: 'a/', new_prefix: 'a/moved/' },
        { op: 'delete', prefix: 'c/' },
        { op: 'delete', prefix: 'c/', ignore_missing: true },
      )
      expect(results).toEqual([
        { op: 'rename', name: null, prefix: 'a/', new_prefix: 'a/moved/', matched: 3, file: null },
        { op: 'delete', name: null, prefix: 'c/', matched: 1, file: null },
        { op: 'delete', name: null, prefix: 'c/', matched: 0, file: null },
      ])
      expect(await names()).toEqual(['a/moved/', 'a/moved/1', 'a/moved/b/2', 'ab'])
      await done({ op: 'rename', prefix: '', new_prefix: 'all/' })
      const all = ['all/a/moved/', 'all/a/moved/1', 'all/a/moved/b/2', 'all/ab']
      expect(await names()).toEqual(all)
      const told = (await changes(`?cursor=${cursor}`)).body.toString()
      expect(told).toContain('"previous_name":"a/moved/b/2"')
    })

    it('is refused for what is missing, in the way, or no name', async () => {
      const first = { op: 'rename', name: 'ab', new_name: 'ac' }
      const before = await names()
      const cases = [
        [{ op: 'delete', prefix: 'none/' }, 404, 'not_found', {}],
        [{ op: 'rename', prefix: 'a/', new_prefix: 'c/' }, 409, 'file_exists', { name: 'c/1' }],
        [{ op: 'rename', prefix: 'a/', new_prefix: '' }, 400, 'invalid_file_name', { name: '' }],
        [
          { op: 'rename', prefix: 'a/1', new_prefix: 'd/' },
          400,
          'invalid_file_name',
          { name: 'd/' },
        ],
        [
          { op: 'rename', prefix: 'a', new_prefix: 'd/' },
          400,
          'invalid_file_name',
          { name: 'd//' },
        ],
        [
          { op: 'rename', prefix: 'a/b/', new_prefix: `${'x'.repeat(255)}/`.repeat(4) },
          400,
          'invalid_file_name',
          { name: `${`${'x'.repeat(255)}/`.repeat(4)}2` },
        ],
        [{ op: 'rename', prefix: 'a/', new_prefix: 'd//' }, 400, 'invalid_file_name', {}],
        [{ op: 'rename', prefix: 'a/', new_prefix: '../' }, 400, 'invalid_file_name', {}],
      ] as const
      for (const [operation, status, code, facts] of cases) {
        const more = ['operation', ...Object.keys(facts)]
        const problem = expectProblem(await batch(first, operation), { status, code, more })
        expect({ ...problem }).toMatchObject({ operation: 1, ...facts })
      }
      expect(await names()).toEqual(before)
    })

    it.each([
      ['a name as well', { op: 'delete', prefix: 'a/', name: 'ab' }, 'name'],
      ['an etag', { op: 'delete', prefix: 'a/', if_match: '*' }, 'if_match'],
      ['an empty prefix to delete', { op: 'delete', prefix: '' }, 'prefix'],
      ['a new name', { op: 'rename', prefix: 'a/', new_prefix: 'b/', new_name: 'b' }, 'new_name'],
      ['no new prefix', { op: 'rename', prefix: 'a/' }, 'new_prefix'],
      ['a new prefix for a name', { op: 'rename', name: 'ab', new_prefix: 'b/' }, 'new_name'],
      ['a visibility', { op: 'rename', prefix: 'a/', new_prefix: 'b/', keep: true }, 'keep'],
      ['another operation', { op: 'update', prefix: 'a/', keep: true }, 'name'],
      ['a number', { op: 'delete', prefix: 1 }, 'prefix'],
      ['no prefix of a name', { op: 'delete', prefix: 'a//' }, 'prefix'],
    ])('is refused for %s', async (_, operation, parameter) => {
      const before = await names()
      const more = ['parameter', 'operation']
      const reply = await batch({ op: 'delete', name: 'ab' }, operation)
      const problem = expectProblem(reply, { status: 400, code: 'invalid_parameter', more })
      expect(problem).toMatchObject({ parameter, operation: 1 })
      expect(await names()).toEqual(before)
    })

    it('needs what single operations need of a token, for both prefixes, and read', async () => {
      const refusal = async (actions: readonly string[], operation: object) => {
        const token = await issue(service, user, { actions, prefix: 'a/' })
        const headers = { 'Content-Type': 'application/json' }
        const body = JSON.stringify({ operations: [operation] })
        const sent = { method: 'POST', path: BATCH_PATH, headers, token, body }
        return (await problemOf(await send(service, sent)))?.required
      }
      const rename = { op: 'rename', prefix: 'a/b/', new_prefix: 'a/d/' }
      const all = ['read', 'delete', 'create', 'replace']
      const cases = [
        [['read', 'share'], { op: 'delete', prefix: 'a/' }, 'delete'],
        [['delete'], { op: 'delete', prefix: 'a/' }, 'read'],
        [all, { op: 'delete', prefix: 'a' }, 'prefix'],
        [['read', 'delete'], rename, 'create'],
        [['read', 'delete', 'create'], { ...rename, overwrite: true }, 'replace'],
        [all, { ...rename, new_prefix: 'b/' }, 'prefix'],
        [all, { ...rename, prefix: '' }, 'prefix'],
        [['read', 'delete', 'create'], rename, undefined],
        [['read', 'delete'], { op: 'delete', prefix: 'a/' }, undefined],
      ] as const
      for (const [actions, operation, required] of cases) {
        expect([actions, operation, await refusal(actions, operation)]).toEqual([
          actions,
          operation,
          required,
        ])
      }
      expect(await names()).toEqual(['ab', 'c/1'])
    })

    it('counts each file: more than a thousand in all are refused, with their number', async () => {
      const none = { op: 'delete', name: 'none', ignore_missing: true }
      const others = Array.from({ length: 998 }, () => none)
      const all = { op: 'delete', prefix: 'a/' }
      const before = await names()
      const more = ['parameter', 'operation', 'matched']
      const reply = await batch(...others, all)
      const problem = expectProblem(reply, { status: 400, code: 'invalid_parameter', more })
      expect(problem).toMatchObject({ parameter: 'operations', operation: 998, matched: 3 })
      expect(await names()).toEqual(before)
      const results = await done(...others.slice(1), all)
      expect(results.at(-1)).toMatchObject({ matched: 3 })
    })
  })
}
