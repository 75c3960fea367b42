// On a PostgreSQL with a synchronous standby, and local files.
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { ask, pathOf, upload } from '../../http/fixture.ts'
import {
  append,
  appended,
  cancel,
  create,
  createUpload,
  head,
  look,
} from '../../http/resumable/tus-requests.ts'
import { runSql } from '../../support/run-sql.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { openPair, type PairedInstances, PRIMARY_ALONE, skipped } from './paired-instances.ts'

const content = randomBytes(2_000)

/** What a client may take for an acknowledgement, of a change that only the primary has. */
describe.skipIf(skipped)(
  'F06 R15 a change that no standby has confirmed',
  { timeout: 120_000 },
  () => {
    let paired: PairedInstances
    let service: TestService
    let user: TestUser
    let opened: AsyncDisposableStack
    let isAway = false

    beforeAll(async () => {
      opened = new AsyncDisposableStack()
      paired = await openPair(opened, { timeoutMs: TIMEOUT_MS })
      ;({ service } = await paired.start())
      user = await service.createUser(100_000)
    })
    afterAll(() => opened.disposeAsync())
    afterEach(() => confirmed())

    it('is no offset of an upload, nor that the file is stored', async () => {
      const open = await createUpload(service, { user, name: 'open', length: content.length })
      const whole = await createUpload(service, { user, name: 'whole', length: content.length })
      await onPrimaryAlone(async (alone) => {
        await appended(alone, open, { body: content.subarray(0, 1_000) })
        await appended(alone, whole, { body: content })
      })
      const asks = [
        () => head(service, open),
        () => look(service, open),
        () => append(service, open, { offset: 1_500, body: content.subarray(1_500) }),
        () => head(service, whole),
        () => look(service, whole),
        () => append(service, whole, { offset: content.length, body: '' }),
        () => cancel(service, whole),
      ]
      // tus clients give up on a HEAD that gets 503.
      expect(await statuses(asks)).toEqual([423, 503, 503, 423, 503, 503, 503])
      await confirmed()
      expect(await statuses(asks)).toEqual([200, 200, 409, 200, 200, 204, 410])
    })

    it('is no reason to refuse a write', async () => {
      const write = { user, method: 'PUT', content, headers: { 'If-None-Match': '*' } } as const
      const old = { user, method: 'PUT', content } as const
      for (const name of ['removed', 'renamed']) {
        expect((await upload(service, { ...old, name })).status).toBe(200)
      }
      const rename = (name: string, to: string, at = service) =>
        ask(at, {
          user,
          method: 'PATCH',
          path: pathOf(name),
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ name: to }),
        })
      const remove = (at = service) => ask(at, { user, method: 'DELETE', path: pathOf('removed') })
      const gone = await createUpload(service, { user, name: 'gone', length: 5 })
      await onPrimaryAlone(async (alone) => {
        expect((await upload(alone, { ...write, name: 'new' })).status).toBe(200)
        expect((await remove(alone)).status).toBe(204)
        expect((await rename('renamed', 'named', alone)).status).toBe(200)
        expect((await cancel(alone, gone)).status).toBe(204)
      })
      // The uploads come last: an unanswered COMMIT keeps the lock of the user, and others would wait for that.
      const asks = [
        () => remove(),
        () => rename('renamed', 'named'),
        () => rename('new', 'named'),
        () => cancel(service, gone),
        () => create(service, { user, name: 'new', length: 5, headers: write.headers }),
        () =>
          upload(service, {
            ...write,
            name: 'new',
            headers: { ...write.headers, Expect: '100-continue' },
          }),
        () => upload(service, { ...write, name: 'new' }),
      ]
      expect(await statuses(asks)).toEqual(asks.map(() => 503))
      await confirmed()
      expect(await statuses(asks)).toEqual([404, 404, 409, 404, 412, 412, 412])
    })

    it('is no user who exists', async () => {
      const userId = parseUserId('known-to-one-server')
      const creating = () => service.users.createUser(userId)
      await onPrimaryAlone((alone) => alone.users.createUser(userId))
      await expect(creating()).rejects.toMatchObject({ code: 'unavailable' })
      await confirmed()
      expect(await creating()).toMatchObject({ created: false })
    })

    it('is not acknowledged when somebody cancels the wait for the standby', async () => {
      isAway = true
      await paired.pair.standby.kill()
      const state = { isDone: false }
      const writing = upload(service, { user, method: 'PUT', name: 'cancelled', content })
      const answered = writing.finally(() => (state.isDone = true))
      while (!state.isDone) {
        await runSql(paired.pair.primary.url, CANCEL_WAITS)
        await setTimeout(10)
      }
      expect((await answered).status).toBe(503)
    })

    it('can be read', async () => {
      await onPrimaryAlone((at) => upload(at, { user, method: 'PUT', name: 'seen', content }))
      expect((await ask(service, { user, path: pathOf('seen') })).status).toBe(200)
      expect((await ask(service, { user, path: '/users/me/repo' })).status).toBe(200)
    })

    /** Has the primary commit what `work` changes without its standby, as the recovery after a crash does. */
    async function onPrimaryAlone(work: (alone: TestService) => Promise<unknown>): Promise<void> {
      isAway = true
      await paired.pair.standby.kill()
      await using alone = await paired.start(PRIMARY_ALONE)
      await work(alone.service)
    }

    async function confirmed(): Promise<void> {
      if (!isAway) return
      isAway = false
      await paired.pair.standby.start()
      await paired.pair.inStep()
    }
  },
)

// Shorter than that of the service, so that the tests are.
const TIMEOUT_MS = 1_000

const CANCEL_WAITS = `
  SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`

/** One after the other, so that none waits for a lock of another. */
async function statuses(
  asks: readonly (() => Promise<{ readonly status: number | undefined }>)[],
): Promise<readonly (number | undefined)[]> {
  const found: (number | undefined)[] = []
  for (const each of asks) found.push((await each()).status)
  return found
}
