import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { list } from '../file-requests.ts'
import { ask, download, expectProblem, jsonOf, MIB, type OpenService, upload } from '../fixture.ts'
import { type Batch, batchOf, type Result } from './batch-requests.ts'

/** `POST /users/me/batch` where it reaches the ledger. */
export function batchSuite(open: OpenService): void {
  describe('a batch', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000, maxFiles: 6 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    const put = async (name: string, content: string) =>
      jsonOf(await upload(service, { user, name, content })) as { readonly version: string }
    const batch: Batch = (operations, of = user) => batchOf(service, { user: of, operations })
    const done = async (operations: readonly object[]) => {
      const reply = await batch(operations)
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      return jsonOf(reply) as { readonly results: readonly Result[]; readonly capacity: object }
    }
    const names = async () =>
      (jsonOf(await list(service, { user })) as { files: { name: string }[] }).files.map(
        (file) => file.name,
      )
    const refused = async (
      operations: readonly object[],
      { status, code, more = [] }: { status: number; code: ErrorCode; more?: readonly string[] },
    ) => {
      const before = await names()
      const problem = expectProblem(await batch(operations), {
        status,
        code,
        more: ['operation', ...more],
      })
      expect(await names()).toEqual(before)
      return problem
    }

    it('has the files of one save become visible at once', async () => {
      await put('world', 'old world')
      const world = await put('world.tmp', 'new world')
      const player = await put('player.tmp', 'new player')
      await put('journal', 'unfinished')
      const { results, capacity } = await done([
        { op: 'rename', name: 'world.tmp', new_name: 'world', overwrite: true },
        { op: 'rename', name: 'player.tmp', new_name: 'player', visibility: 'users' },
        { op: 'delete', name: 'journal' },
        { op: 'delete', name: 'lock', ignore_missing: true },
        { op: 'update', name: 'world', keep: true, expires_at: '2100-01-01T00:00:00.000Z' },
      ])
      expect(results).toMatchObject([
        { op: 'rename', name: 'world.tmp', file: { name: 'world', version: world.version } },
        { op: 'rename', name: 'player.tmp', file: { etag: player.version, visibility: 'users' } },
        { op: 'delete', name: 'journal', file: null },
        { op: 'delete', name: 'lock', file: null },
        {
          op: 'update',
          name: 'world',
          file: { keep: true, expires_at: '2100-01-01T00:00:00.000Z' },
        },
      ])
      const used = 'new world'.length + 'new player'.length
      expect(capacity).toEqual({ capacity: MIB, used, reserved: 0, available: MIB - used })
      expect(await names()).toEqual(['player', 'world'])
      const { body } = await download(service, { user, name: 'world' })
      expect(body.toString()).toBe('new world')
    })

    it('restores versions, also what it deletes itself', async () => {
      const { version } = await put('a', 'one')
      await put('a', 'two')
      const { results } = await done([
        { op: 'delete', name: 'a' },
        { op: 'restore', version },
        { op: 'restore', version: createVersion(), ignore_missing: true },
        { op: 'restore', version: createVersion(), new_name: 'b', ignore_missing: true },
      ])
      expect(results).toMatchObject([
        { file: null },
        { op: 'restore', name: 'a', file: { version } },
        { op: 'restore', name: null, file: null },
        { op: 'restore', name: 'b', file: null },
      ])
      const { body } = await download(service, { user, name: 'a' })
      expect(body.toString()).toBe('one')
    })

    it('is refused as its operation is, with its index, and changes nothing', async () => {
      const { version } = await put('a', 'x')
      await put('b', 'y')
      const first = { op: 'rename', name: 'b', new_name: 'c' }
      const absent = createVersion()
      await refused([first, { op: 'delete', name: 'none' }], { status: 404, code: 'not_found' })
      const conflict = { op: 'rename', name: 'a', new_name: 'c' }
      await refused([first, conflict], { status: 409, code: 'file_exists' })
      const stale = { op: 'update', name: 'a', keep: true, if_match: absent }
      const problem = await refused([first, stale], { status: 412, code: 'precondition_failed' })
      expect(problem).toMatchObject({ operation: 1 })
      await refused([{ op: 'restore', version: absent }], { status: 404, code: 'not_found' })
      const taken = { op: 'restore', version, new_name: 'c' }
      await refused([first, { op: 'delete', name: 'a' }, taken], {
        status: 409,
        code: 'file_exists',
      })
      const late = { op: 'update', name: 'a', expires_at: '2020-01-01T00:00:00Z' }
      const more = ['parameter']
      const tooLate = await refused([first, late], { status: 400, code: 'invalid_parameter', more })
      expect(tooLate).toMatchObject({ parameter: 'expires_at', operation: 1 })
      const met = [
        { op: 'delete', name: 'a', if_match: version },
        { op: 'restore', version, new_name: 'b', overwrite: true, if_match: '*' },
      ]
      await done(met)
    })

    it('has to fit only in the end', async () => {
      const { version } = await put('large', 'x'.repeat(MIB))
      await done([{ op: 'delete', name: 'large' }])
      await put('small', 'y'.repeat(1000))
      const restore = { op: 'restore', version }
      const problem = await refused([restore, { op: 'update', name: 'small', keep: true }], {
        status: 403,
        code: 'capacity_exceeded',
        more: ['limit', 'capacity', 'used', 'reserved', 'requested', 'available'],
      })
      expect(problem).toMatchObject({ operation: 0, requested: MIB, used: 1000 })
      const { capacity } = await done([restore, { op: 'delete', name: 'small' }])
      expect(capacity).toMatchObject({ used: MIB, available: 0 })
    })

    it('wakes who waits for changes, and is told as its operations went', async () => {
      await put('a', 'x')
      const { next_cursor: cursor } = jsonOf(
        await ask(service, { user, path: '/users/me/changes' }),
      )
      const path = `/users/me/changes?wait=30&cursor=${String(cursor)}`
      const waiting = ask(service, { user, path })
      await done([
        { op: 'rename', name: 'a', new_name: 'b' },
        { op: 'rename', name: 'b', new_name: 'c' },
      ])
      const { changes } = jsonOf(await waiting)
      expect(changes).toMatchObject([
        { type: 'file.renamed', previous_name: 'a', name: 'b' },
        { type: 'file.renamed', previous_name: 'b', name: 'c' },
      ])
    })
  })
}
