import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Version } from '../../../src/core/objects/object-key.ts'
import {
  append,
  appended,
  base64,
  beginAppend,
  create,
  createUpload,
  expectFile,
  head,
  listed,
  type TusUpload,
  uploadOf,
  UPLOADS,
} from '../../http/resumable/tus-requests.ts'
import { ask } from '../../http/fixture.ts'
import type { LossyExchange, Way } from '../../support/faults/tcp-proxy.ts'
import type { RawExchange } from '../../support/http/raw-http.ts'
import { digest } from '../../support/objects.ts'
import { runSql } from '../../support/run-sql.ts'
import type { PostgresPair } from '../../support/servers/postgres-pair.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { openPair, skipped } from './paired-instances.ts'

/** Sizes that no other number of a transaction is equal to. */
const LENGTH = 300_007
const ACKNOWLEDGED = 100_003
const RECORDED = 200_017

const content = randomBytes(LENGTH)

/** Whether the old primary has committed before it dies. */
const LOSSES: readonly Way[] = ['request', 'answer']

describe.skipIf(skipped)(
  'R15 a failover of PostgreSQL in a resumable upload',
  { timeout: 300_000 },
  () => {
    let pair: PostgresPair
    let services: readonly [TestService, TestService]
    let opened: AsyncDisposableStack

    beforeEach(async () => {
      opened = new AsyncDisposableStack()
      const paired = await openPair(opened, { timeoutMs: TIMEOUT_MS })
      ;({ pair } = paired)
      const [one, other] = [await paired.start(), await paired.start()]
      services = [one.service, other.service]
    })
    afterEach(() => opened.disposeAsync())

    it.each(LOSSES)(
      'a failover in a creation, losing the %s of COMMIT, leaves it whole or not',
      async (loses) => {
        const user = await services[0].createUser(3 * LENGTH)
        const creation = { user, name: 'created.bin', length: LENGTH } as const
        const commit = commitAfter(base64(creation.name), loses)
        const reply = await failingOver(commit, () => create(services[0], creation))
        expect([201, 503]).toContain(reply.status)
        // A client that was not told the URL finds the upload in its list, or begins anew.
        const upload = uploadOf(reply, creation)
        const [known] = reply.status === 201 ? [upload.id] : await unfinishedOf(user)
        expect(known !== undefined).toBe(reply.status === 201 || loses === 'answer')
        const id = known ?? (await createUpload(services[1], creation)).id
        const created = { ...upload, id, path: `${UPLOADS}/${id}` }
        expect(await reached(created)).toBe(0)
        await finish(created, 0)
      },
    )

    it.each(LOSSES)(
      'a failover in a claim, losing the %s of COMMIT, keeps its offset',
      async (loses) => {
        const upload = await begun()
        const claim = commitAfter(await holderOf(services[0]), loses)
        await failingOver(claim, () => appendTo(services[0], upload, RECORDED))
        await expectKept(upload, 0)
      },
    )

    it.each(LOSSES)(
      'a failover in a record, losing the %s of COMMIT, keeps its offset',
      async (loses) => {
        const upload = await begun()
        const record = commitAfter(`${RECORDED}`, loses)
        const reply = await failingOver(record, () => appendTo(services[0], upload, RECORDED))
        await expectKept(upload, reply.status === 204 ? RECORDED : 0)
      },
    )

    it.each(LOSSES)('a failover in a seal, losing the %s of COMMIT, finishes it', async (loses) => {
      const upload = await begun()
      const seal = commitAfter(digest(content), loses)
      const reply = await failingOver(seal, () => appendTo(services[0], upload, LENGTH))
      await expectKept(upload, reply.status === 204 ? LENGTH : 0)
    })

    it.each(LOSSES)(
      'a failover in a commit, losing the %s of COMMIT, finishes it',
      async (loses) => {
        const upload = await begun()
        // Another instance does not know the digest before the object is whole.
        const commit = commitAfter(digest(content), loses)
        const reply = await failingOver(commit, () => appendTo(services[1], upload, LENGTH))
        await expectKept(upload, reply.status === 204 ? LENGTH : 0)
      },
    )

    /** An upload with an acknowledged append. */
    async function begun(): Promise<TusUpload> {
      const user = await services[0].createUser(2 * LENGTH)
      const upload = await createUpload(services[0], { user, length: LENGTH })
      await appended(services[0], upload, { body: content.subarray(0, ACKNOWLEDGED) })
      return upload
    }

    function appendTo(service: TestService, upload: TusUpload, end: number): Promise<RawExchange> {
      const body = content.subarray(ACKNOWLEDGED, end)
      return append(service, upload, { offset: ACKNOWLEDGED, body })
    }

    /** Has the primary die around an exchange. */
    async function failingOver(
      exchange: LossyExchange,
      request: () => Promise<RawExchange>,
    ): Promise<RawExchange> {
      const lost = pair.balancer.lose(exchange)
      const reply = request()
      await lost
      await pair.failOver()
      return await reply
    }

    /** Asserts that a client continues at an offset that is at least the one it was told, and gets its file. */
    async function expectKept(upload: TusUpload, told: number): Promise<void> {
      const offset = await reached(upload)
      expect(offset).toBeGreaterThanOrEqual(Math.max(told, ACKNOWLEDGED))
      await finish(upload, offset)
    }

    /** The offset at the other instance, once it has found the new primary and fenced the first one. */
    async function reached(upload: TusUpload): Promise<number> {
      let offset = Number.NaN
      const ask = async (): Promise<number> => {
        const reply = await head(services[1], upload)
        offset = Number(reply.headers['upload-offset'])
        return reply.status
      }
      await expect.poll(ask, { timeout: 60_000, interval: 100 }).toBe(200)
      return offset
    }

    async function finish(upload: TusUpload, offset: number): Promise<void> {
      if (offset < LENGTH)
        await appended(services[1], upload, { offset, body: content.subarray(offset) })
      await expectFile(services[1], upload, content)
    }

    async function unfinishedOf(user: TestUser): Promise<readonly Version[]> {
      const found = async () => (await ask(services[1], { user, path: UPLOADS })).status
      await expect.poll(found, { timeout: 60_000, interval: 100 }).toBe(200)
      return (await listed(services[1], user)) as readonly Version[]
    }

    /** How an instance calls itself in its claims. */
    async function holderOf(service: TestService): Promise<string> {
      const user = await service.createUser(LENGTH)
      const upload = await createUpload(service, { user, length: 20 })
      const running = await beginAppend(service, upload, {
        first: content.subarray(0, 10),
        rest: content.subarray(10, 20),
      })
      const [row] = await runSql<{ readonly holder: string }>(
        pair.primary.url,
        `SELECT holder FROM resumable_uploads WHERE version = '${upload.id}'`,
      )
      running.goOn()
      expect((await running.reply).status).toBe(204)
      return row?.holder ?? ''
    }
  },
)

// Shorter than that of the service, so that the tests are.
const TIMEOUT_MS = 4_000

/** The first COMMIT after these bytes on the same connection. */
function commitAfter(after: string, loses: Way): LossyExchange {
  return { after, request: 'COMMIT', loses }
}
