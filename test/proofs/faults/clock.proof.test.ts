import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { createFakeClock, type FakeClock, findFaketime } from '../../support/servers/faketime.ts'
import { createFolder, freePort } from '../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import {
  findInstalled,
  initialise,
  localUrl,
  runPostgres,
} from '../../support/servers/postgres-program.ts'
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts'
import { startDemo } from '../../support/service/demo.ts'
import { exitOf, startProgram, temporaryFolder } from '../../support/service/program.ts'
import { ClockLoad } from './clock-load.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const JUMP_MS = 60_000
const RIGHT_MS = 25_000
const WEBHOOK_MS = 60_000
const TEST_MS = 900_000

const needed = Promise.all([findFaketime(), findInstalled()])
const skipped = isSkipped(await whyMissing(needed))

const opened = new AsyncDisposableStack()

afterAll(() => opened.disposeAsync())

/** I17. Each jump lasts a minute, under load with history, eviction, webhooks and a resumable upload. */
describe.skipIf(skipped).concurrent('G10 a clock that jumps for a minute', () => {
  it(
    'loses nothing on SQLite',
    async () => {
      const clock = await createFakeClock(opened)
      const DATA_DIR = await temporaryFolder(opened)
      const receiver = opened.use(await startWebhookReceiver())
      const settings = { DATA_DIR, ...settingsFor(receiver) }
      const service = await startDemo({
        environment: { ...settings, ...clock.environment },
        opened,
      })
      const token = await issueToken(settings)
      const load = new ClockLoad({ urls: [service.url], token, receiver })
      await jumpThrough(load, [
        { ahead: 40 * DAY, clocks: [clock] },
        { ahead: -2 * HOUR, clocks: [clock] },
        { ahead: 3_650 * DAY, clocks: [clock] },
      ])
      expect(service.output()).toMatch(
        /the clock jumped ahead by 34560\d\d s; nothing is destroyed/,
      )
      expect(service.output()).toMatch(/the clock jumped back/)
      await expectVerified(settings)
    },
    TEST_MS,
  )

  it(
    'loses nothing with two instances on PostgreSQL, whose own clock jumps, or those of both, or of one',
    async () => {
      const [database, instance, other] = [
        await createFakeClock(opened),
        await createFakeClock(opened),
        await createFakeClock(opened),
      ]
      const DATABASE_URL = await startDatabase(database)
      const DATA_DIR = await temporaryFolder(opened)
      const receiver = opened.use(await startWebhookReceiver())
      const settings = { DATA_DIR, DATABASE_URL, ...settingsFor(receiver) }
      const start = async ({ environment }: FakeClock) =>
        await startDemo({ environment: { ...settings, ...environment }, opened })
      const urls = [(await start(instance)).url, (await start(other)).url]
      const load = new ClockLoad({ urls, token: await issueToken(settings), receiver })
      await jumpThrough(load, [
        { ahead: 40 * DAY, clocks: [database, instance, other] },
        { ahead: -2 * HOUR, clocks: [database] },
        { ahead: 3_650 * DAY, clocks: [database, instance] },
        { ahead: 40 * DAY, clocks: [database] },
      ])
      await expectVerified(settings)
    },
    TEST_MS,
  )
})

interface Jump {
  /** In seconds. */
  readonly ahead: number
  readonly clocks: readonly FakeClock[]
}

function settingsFor(receiver: WebhookReceiver) {
  return {
    BASE_CAPACITY: '1000000',
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    MIN_FREE_SPACE: '0',
    WEB_PAGE: 'false',
    API_DOCS: 'false',
  }
}

/** The one that a demo prints ends within a day. */
async function issueToken(environment: Readonly<Record<string, string>>): Promise<string> {
  const args = ['tokens', 'issue', 'demo', '--json']
  const issued = await startProgram({ args, environment, opened })
  expect(await exitOf(issued.process)).toBe(0)
  const { access_token: token } = JSON.parse(issued.output()) as { readonly access_token: string }
  return token
}

async function startDatabase(clock: FakeClock): Promise<string> {
  const folder = await createFolder('clock')
  opened.defer(() => folder.remove())
  const programs = await findInstalled()
  const data = `${folder.path}/data`
  await initialise(programs, data)
  const port = await freePort()
  const wrapped = { ...programs, postgres: await clock.wrap(programs.postgres) }
  const server = await runPostgres({ programs: wrapped, data, port })
  opened.defer(() => server.stop())
  return localUrl(port)
}

async function jumpThrough(load: ClockLoad, jumps: readonly Jump[]): Promise<void> {
  await load.begin()
  const running = load.run()
  // `stop` rejects as it does.
  running.catch(() => undefined)
  try {
    await setTimeout(RIGHT_MS)
    for (const { ahead, clocks } of jumps) {
      await Promise.all(clocks.map((clock) => clock.set(ahead)))
      await setTimeout(JUMP_MS)
      await Promise.all(clocks.map((clock) => clock.set(0)))
      const name = await load.putEvent()
      await eventually(async () => expect(load.delivered()).toContain(name), WEBHOOK_MS)
      await setTimeout(RIGHT_MS)
    }
  } finally {
    await load.stop(running)
  }
  await load.expectAllThere(WEBHOOK_MS)
}

async function expectVerified(environment: Readonly<Record<string, string>>): Promise<void> {
  const verified = await startProgram({ args: ['verify'], environment, opened })
  const code = await exitOf(verified.process)
  expect({ code, output: verified.output() }).toMatchObject({ code: 0 })
}
