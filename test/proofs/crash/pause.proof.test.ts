import { describe, expect, inject, it } from 'vitest'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { forTest } from '../../support/for-test.ts'
import { uploadHead } from '../../support/http/multipart-body.ts'
import { type RawExchange, rawRequest } from '../../support/http/raw-http.ts'
import { contentOf } from './content.ts'
import { Instance } from './instances.ts'
import { JournalWatch, settle } from './settle.ts'
import { Tally } from './tally.ts'
import { openWorld, type World, type WorldUser } from './world.ts'
import { readUsage } from '../../support/read-usage.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const missing = minio === undefined || postgres === undefined

const MIB = 2 ** 20

/** What has been sent of each before the pause: the rest follows after it. */
const UPLOADS = [
  { name: 'half', size: 200_000, sent: 100_000 },
  { name: 'some-parts', size: 40 * MIB, sent: 30 * MIB },
  { name: 'all-but-a-byte', size: 3 * MIB, sent: 3 * MIB - 1 },
] as const

describe.skipIf(missing)('an instance that stands still in the middle of uploads (G05)', () => {
  it.each([
    { until: 'another has given them up', states: ['aborted'] },
    { until: 'they are forgotten', states: [] },
  ])(
    'an instance paused for longer than its lease, until $until, commits none of them',
    async ({ states }) => {
      const world = forTest().use(await openWorld({ postgres, s3: minio }))
      const tally = new Tally()
      const [pausing, other] = [await start(world, tally), await start(world, tally)]
      const journal = new JournalWatch(world)
      const user = world.users[1] ?? world.users[0]
      for (const { name } of UPLOADS) expect((await putOld(other, { user, name })).status).toBe(200)
      const before = await readUsage(world.service.ledger, user.userId)

      const resumed = Promise.withResolvers<void>()
      const uploads = UPLOADS.map((upload) => begin(pausing, { user, upload, go: resumed.promise }))
      await allUnderWay(world)
      await journal.look()
      pausing.pause()
      await expect.poll(() => statesOf(world), POLL).toEqual(states.flatMap((s) => [s, s, s]))
      expect(await readUsage(world.service.ledger, user.userId)).toEqual(before)
      pausing.resume()
      resumed.resolve()

      for (const { status } of await Promise.all(uploads)) expect([0, 503]).toContain(status)
      for (const { name } of UPLOADS) expect(await get(other, { user, name })).toEqual(oldOf(name))
      expect(await pausing.stop()).toBe(0)
      expect(await other.stop()).toBe(0)
      await settle({ world, tally, journal })
      expect(tally.violations).toEqual([])
      expect(await readUsage(world.service.ledger, user.userId)).toEqual(before)
    },
    900_000,
  )
})

const POLL = { timeout: 60_000, interval: 100 }

async function start(world: World, tally: Tally): Promise<Instance> {
  const instance = await Instance.start(world, (reason) => tally.report('other', reason))
  forTest().defer(async () => {
    instance.resume()
    await instance.stop()
  })
  return instance
}

function oldOf(name: string): Buffer {
  return contentOf(`old ${name}`, 10_000)
}

interface Named {
  readonly user: WorldUser
  readonly name: string
}

function putOld({ port }: Instance, { user, name }: Named): Promise<RawExchange> {
  const path = `/users/me/repo/${name}`
  const content = oldOf(name)
  const headers = { Cookie: user.cookie }
  const head = uploadHead({ method: 'PUT', path, length: content.length, headers })
  return rawRequest({ port, send: [head, content], timeoutMs: 60_000 })
}

async function get({ port }: Instance, { user, name }: Named): Promise<Buffer> {
  const head = `GET /users/me/repo/${name} HTTP/1.1\r\nHost: a\r\nCookie: ${user.cookie}\r\n\r\n`
  const { body } = await rawRequest({ port, send: [head], timeoutMs: 60_000 })
  return body
}

interface Begun {
  readonly user: WorldUser
  readonly upload: (typeof UPLOADS)[number]
  /** When to send the rest. */
  readonly go: Promise<void>
}

function begin({ port }: Instance, { user, upload, go }: Begun): Promise<RawExchange> {
  const { name, size, sent } = upload
  const content = contentOf(`new ${name}`, size)
  const headers = { Cookie: user.cookie }
  const path = `/users/me/repo/${name}`
  async function* pieces(): AsyncGenerator<string | Buffer> {
    yield uploadHead({ method: 'PUT', path, length: size, headers })
    yield content.subarray(0, sent)
    await go
    yield content.subarray(sent)
  }
  return rawRequest({ port, send: pieces(), timeoutMs: 200_000 })
}

/** All have their row, and the large one has parts in the object store. */
async function allUnderWay(world: World): Promise<void> {
  await expect.poll(() => statesOf(world), POLL).toEqual(['pending', 'pending', 'pending'])
  await expect.poll(async () => (await world.unfinished(await keys(world))).length, POLL).toBe(1)
}

async function statesOf({ database }: World): Promise<readonly string[]> {
  const rows = database.kysely.selectFrom('uploads').select('state')
  return (await rows.where('state', '<>', 'committed').execute()).map(({ state }) => state)
}

async function keys({ database }: World): Promise<readonly ObjectKey[]> {
  const rows = database.kysely.selectFrom('uploads').select('object_key')
  return (await rows.execute()).map(({ object_key }) => object_key)
}
