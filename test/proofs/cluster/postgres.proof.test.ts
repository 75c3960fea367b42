import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { ask, expectProblem, jsonOf, uploadPieces } from '../../http/fixture.ts'
import { type PostgresPair, until } from '../../support/servers/postgres-pair.ts'
import { runSql } from '../../support/run-sql.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { Way } from '../../support/faults/tcp-proxy.ts'
import type { TestAdapters, TestService } from '../../support/service/test-service.ts'
import { startFollowers } from './followers.ts'
import { type Load, startLoad } from './load.ts'
import { openPair, type PairedInstances, PRIMARY_ALONE, skipped } from './paired-instances.ts'
import { type Content, contentOf, Register } from './register.ts'
import { expectUnavailable, readFrom, type Target, uploadTo } from './requests.ts'
import { expectSettled } from './settled.ts'

const KIB = 1024

describe.skipIf(skipped)(
  'two instances on PostgreSQL with a synchronous standby',
  { timeout: 300_000 },
  () => {
    let paired: PairedInstances
    let pair: PostgresPair
    let adapters: TestAdapters
    let services: readonly [TestService, TestService]
    let opened: AsyncDisposableStack

    beforeEach(async () => {
      opened = new AsyncDisposableStack()
      paired = await openPair(opened, { timeoutMs: TIMEOUT_MS, leaseMs: 5_000 })
      ;({ pair } = paired)
      const [one, other] = [await paired.start(), await paired.start()]
      ;({ adapters } = one)
      services = [one.service, other.service]
    })
    afterEach(() => opened.disposeAsync())

    function startMixedLoad(): Promise<Load> {
      const capacity = 500 * KIB
      const sizes = [0, 1, 10 * KIB, 100 * KIB, 300 * KIB]
      return startLoad({ services, users: 4, filesPerUser: 3, capacity, sizes, seed: 2 })
    }

    it('F06 loses nothing that was acknowledged when the standby takes over under load', async () => {
      const load = await startMixedLoad()
      const users = new Set(load.registers.map(({ user }) => user))
      const followers = startFollowers({ services, users })
      await load.until({ written: 60, read: 40 })
      await pair.primary.kill()
      pair.balancer.cut()
      await load.until({ unavailable: 30 })
      pair.balancer.point([pair.standby.port])
      const before = load.tally()
      await load.until({ unavailable: 60 })
      const { written, read } = load.tally()
      expect({ written, read }).toEqual({ written: before.written, read: before.read })
      await pair.promote()
      await load.until({ written: 60, read: 40 })
      await pair.primary.start()
      await load.until({ written: 60, read: 40 })
      expect(await runSql(pair.primary.url, OWN_SESSIONS)).toEqual([])
      await load.stop()
      await followers.stop()
      for (const service of services) await expectSettled({ service, load, ...adapters })
      expect(load.tally().refused).toBeGreaterThan(0)
    })

    it('F06 tells a follower that it has seen changes which the new primary lacks', async () => {
      const { target, register } = await uploaded('old')
      const { user } = register
      const page = async (query: string) =>
        await ask(services[0], { user, path: `/users/me/changes${query}` })
      const cursorOf = async () => String(jsonOf(await page(''))['next_cursor'])
      const kept = await cursorOf()
      await pair.standby.kill()
      const { service: alone } = await paired.start(PRIMARY_ALONE)
      expect(await uploadTo({ ...target, service: alone }, { ...NEW, ...PLAIN })).toBe('done')
      const lost = await cursorOf()
      await pair.primary.kill()
      await pair.standby.start()
      await pair.promote()
      pair.balancer.point([pair.standby.port])
      pair.balancer.cut()
      const resume = (cursor: string) => page(`?cursor=${encodeURIComponent(cursor)}`)
      expectProblem(await resume(lost), { status: 410, code: 'cursor_expired' })
      expect(jsonOf(await resume(kept))).toMatchObject({ changes: [], has_more: false })
      expect(await uploadTo(target, { ...NEW, ...PLAIN })).toBe('done')
      expectProblem(await resume(lost), { status: 410, code: 'cursor_expired' })
      const { changes } = jsonOf(await resume(kept))
      expect(changes).toMatchObject([{ type: 'file.replaced', name: 'old' }])
    })

    it('F06 serves no reads from a standby, which may lack what was acknowledged', async () => {
      const { target } = await uploaded('old')
      pair.balancer.point([pair.standby.port])
      pair.balancer.cut()
      expect((await readFrom(target)).answer).toBe('unavailable')
      expectUnavailable(
        await ask(services[0], { user: target.register.user, path: '/users/me/repo' }),
      )
      expect((await ask(services[0], { path: '/readyz' })).status).toBe(503)
      pair.balancer.point([pair.primary.port])
      expect((await readFrom(target)).answer).toBe('done')
    })

    it('F04 F06 acknowledges from the new primary what the old one had committed without an answer', async () => {
      const { target, register } = await uploaded('old')
      const answer = overwriteLosing('answer', target)
      expect(await answer).toBe('done')
      expect(await readFrom(target)).toEqual({ answer: 'done', size: NEW.bytes.length })
      expect(await outcomes(register)).toEqual(['committed', 'committed'])
    })

    it('F04 F06 keeps the old file when the old primary dies before the COMMIT reaches it', async () => {
      const { target, register } = await uploaded('old')
      const answer = overwriteLosing('request', target)
      expect(await answer).toBe('unavailable')
      expect(await readFrom(target)).toEqual({ answer: 'done', size: OLD.bytes.length })
      expect(await outcomes(register)).toEqual(['aborted', 'committed'])
    })

    it('F06 acknowledges nothing that the standby has not confirmed, not even by reading it back', async () => {
      const { target, register } = await uploaded('old')
      const answer = rawRequest({ port: target.service.port, send: losingTheStandby(target) })
      await until(pair.primary.url, WAITING)
      // It stays committed here, visible to all once the backend has ended, and is on no other server.
      await runSql(
        pair.primary.url,
        `SELECT pg_terminate_backend(pid, ${TIMEOUT_MS}) FROM (${WAITING}) AS waiting`,
      )
      expectUnavailable(await answer)
      register.leftOpen(NEW.sha256)
      expect(await readFrom(target)).toEqual({ answer: 'done', size: NEW.bytes.length })
      await pair.standby.start()
      await pair.inStep()
      expect(await uploadTo(target, { ...NEW, ...PLAIN })).toBe('done')
      expect(await outcomes(register)).toEqual(['committed', 'committed', 'committed'])
    })

    it('F06 acknowledges nothing on an old primary that came back beside the new one', async () => {
      const { target } = await uploaded('old')
      await pair.failOver()
      await pair.primary.start()
      pair.balancer.point([pair.primary.port])
      pair.balancer.cut()
      expect(await uploadTo(target, { ...NEW, ...PLAIN })).toBe('unavailable')
      pair.balancer.point([pair.standby.port])
      pair.balancer.cut()
      expect(await readFrom(target)).toEqual({ answer: 'done', size: OLD.bytes.length })
    })

    async function uploaded(name: string) {
      const [service] = services
      const register = new Register(await service.createUser(10 * KIB), name)
      const target = { service, register }
      expect(await uploadTo(target, { ...OLD, ...PLAIN })).toBe('done')
      return { target, register }
    }

    /** An overwrite during which the standby dies, once the upload is in the journal and before it is committed. */
    async function* losingTheStandby({ register }: Target) {
      const { user, name } = register
      const [head = '', body = ''] = uploadPieces({ user, name, content: NEW.bytes, method: 'PUT' })
      yield head as string
      await until(pair.primary.url, `SELECT 1 FROM uploads WHERE state = 'pending'`)
      await pair.standby.kill()
      yield body as Buffer
    }

    /** Overwrites, and has the primary die around the COMMIT of it. */
    async function overwriteLosing(loses: Way, target: Target) {
      // The statement itself goes by name; what its upload turned out to be is a parameter of it alone.
      const lost = pair.balancer.lose({ after: NEW.sha256, request: 'COMMIT', loses })
      const answer = uploadTo(target, { ...NEW, ...PLAIN })
      await lost
      await pair.failOver()
      return await answer
    }

    /** What became of the uploads of a name, the latest first. */
    async function outcomes({ user, name }: Register): Promise<string[]> {
      const { database } = adapters
      const rows = await database.kysely
        .selectFrom('uploads')
        .select('state')
        .where('user_id', '=', user.userId)
        .where('name', '=', parseFileName(name))
        .orderBy('version', 'desc')
        .execute()
      return rows.map(({ state }) => state)
    }
  },
)

// Shorter than that of the service, so that the tests are.
const TIMEOUT_MS = 4_000

const OLD: Content = contentOf(1, 1000)
const NEW: Content = contentOf(2, 2000)
const PLAIN = { method: 'PUT', chunked: false } as const

const OWN_SESSIONS = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'cloud-repository'`

// Of an upload, which changes a quota: its lease is renewed meanwhile, and that waits as well. While there is a standby
// it is the beginning of the upload that waits, for a moment.
const WAITING = `
  SELECT pid FROM pg_stat_activity
  JOIN quotas ON quotas.xmax = backend_xid
  WHERE wait_event = 'SyncRep' AND query = 'COMMIT'
  AND NOT EXISTS (SELECT 1 FROM pg_stat_replication)`
