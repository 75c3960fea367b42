import { Agent } from 'node:http'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { headText } from '../../../http/resumable/tus-requests.ts'
import { rawRequest } from '../../../support/http/raw-http.ts'
import { readUsage } from '../../../support/read-usage.ts'
import { contentOf } from '../content.ts'
import { Instance } from '../instances.ts'
import { type Reply, send } from '../request.ts'
import { JournalWatch, settle } from '../settle.ts'
import { Tally } from '../tally.ts'
import { openWorld, type Places, type World, type WorldUser } from '../world.ts'
import { TUS, UPLOADS } from './client.ts'
import type { Moment } from './moments.ts'
import { MINUTE_MS, passTime } from './passing-time.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const missing = minio === undefined || postgres === undefined

const KIB = 2 ** 10
const MIB = 2 ** 20

/** What S3 stores at once, and how much of a body may be in flight beside it. */
const PART = 8 * MIB

const REQUEST_TIMEOUT_MS = 300_000

describe('an instance that is killed in a resumable upload, on SQLite and files', () => {
  killsSuite({ postgres: undefined, s3: undefined })
})

describe.skipIf(missing)('one of two instances that is killed, on PostgreSQL and MinIO', () => {
  killsSuite({ postgres, s3: minio })
})

function killsSuite(places: Places): void {
  let opened: AsyncDisposableStack
  let stack: Stack
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    stack = opened.use(await openStack(places))
  })
  afterEach(() => opened.disposeAsync())

  it('R03 with parts in flight costs its client one part and 5 s of data at most', async () => {
    const upload = await create(stack, 'film', 5 * PART)
    const { promise: recorded, resolve: goOn } = Promise.withResolvers<void>()
    const answer = appendSlowly(stack, upload, { first: PART + KIB, goOn: recorded })
    await expect.poll(() => recordedBytes(stack, upload), POLL).toBeGreaterThanOrEqual(PART)
    const before = await recordedBytes(stack, upload)
    const killed = stack.killed.diesAt('after a part, with others in flight', 60_000)
    goOn()
    expect(await killed).toBe(true)
    expect((await answer).status).toBe(0)

    const other = await stack.other()
    const startedAt = performance.now()
    const offset = await offsetAt(other, upload)
    // As long as it takes to fence an instance that does not respond.
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(offset).toBeGreaterThanOrEqual(before)
    await finish(other, upload, offset)
    await expectSettled(stack, [upload])
  })

  it('R04 after it has stored a tail, and before it has recorded it, leaves the offset as it was', async () => {
    const upload = await create(stack, 'notes', 900 * KIB)
    await append(stack.killed, upload, [0, 300 * KIB])
    const before = await storedObjects(stack)
    const lost = dyingAt(stack, 'after the bytes, before their record', () =>
      send(appendRequest(stack.killed, upload, [300 * KIB, 500 * KIB])),
    )
    expect((await lost).kind).toBe('lost')
    const hasTails = stack.world.service.objects.hasTails
    expect(await storedObjects(stack)).toBe(before + (hasTails ? 1 : 0))

    const other = await stack.other()
    expect(await offsetAt(other, upload)).toBe(300 * KIB)
    await append(other, upload, [300 * KIB, 600 * KIB])
    await passTime(stack.world.database, 16 * MINUTE_MS)
    await stack.world.service.sweeper.sweep({
      signal: AbortSignal.timeout(60_000),
      onWait: () => undefined,
    })
    // The tail of the append that was lost is gone, and those in use are not.
    expect(await storedObjects(stack)).toBe(hasTails ? 2 : 0)
    await finish(other, upload, 600 * KIB)
    await expectSettled(stack, [upload])
  })

  it('R05 between the last byte and the commit leaves an upload that a HEAD elsewhere makes one file', async () => {
    const uploads = new Map<Moment, Upload>()
    const isAtomic = places.s3 === undefined
    for (const moment of AFTER_THE_LAST_BYTE) {
      if (moment === DURING && !isAtomic) continue
      const upload = await create(stack, moment.replaceAll(' ', '-'), 600 * KIB)
      // By another instance or an earlier process, so that the content has to be read again.
      await append(stack.first, upload, [0, 200 * KIB])
      uploads.set(moment, upload)
    }
    await stack.restart()
    for (const [moment, upload] of uploads) {
      const request = () => send(appendRequest(stack.killed, upload, [200 * KIB, 600 * KIB]))
      const outcome = await dyingAt(stack, moment, request)
      expect({ moment, kind: outcome.kind }).toEqual({ moment, kind: 'lost' })
      await stack.restart()
    }
    const other = await stack.other()
    for (const upload of uploads.values()) {
      const offset = await offsetAt(other, upload)
      if (offset < 600 * KIB) await finish(other, upload, offset)
    }
    await expectSettled(stack, [...uploads.values()])
  })

  // Only there can a completion be cut off.
  if (places.s3 === undefined) return
  it('R05 in the middle of the completion leaves the whole file, or an upload that the store has lost', async () => {
    const uploads: Upload[] = []
    for (let kill = 0; kill < 4; kill++) {
      const upload = await create(stack, `cut-${kill}`, 600 * KIB)
      await append(stack.first, upload, [0, 200 * KIB])
      const request = () => send(appendRequest(stack.killed, upload, [200 * KIB, 600 * KIB]))
      await dyingAt(stack, DURING, request)
      await stack.restart()
      uploads.push(upload)
    }
    const other = await stack.other()
    const finished: Upload[] = []
    for (const upload of uploads) {
      const { status } = await headAt(other, upload)
      expect([200, 410]).toContain(status)
      if (status === 200) finished.push(upload)
    }
    await expectSettled(stack, finished)
  })
}

const POLL = { timeout: 60_000, interval: 50 } as const

/** MinIO loses the parts if the connection of CompleteMultipartUpload breaks. */
const DURING = 'during the completion'

const AFTER_THE_LAST_BYTE = [
  'before the seal',
  'after the seal',
  DURING,
  'after the completion',
  'during the re-read',
  'before the commit',
  'during the commit',
  'after the commit',
] as const satisfies readonly Moment[]

interface Stack extends AsyncDisposable {
  readonly world: World
  readonly user: WorldUser
  readonly tally: Tally
  readonly journal: JournalWatch
  readonly killed: Instance
  /** Where the upload begins: another instance if there are two. */
  readonly first: Instance
  /** Starts the one that was killed again. */
  restart(): Promise<void>
  /** Another instance, or the successor of the only one. */
  other(): Promise<Instance>
  stop(): Promise<void>
}

async function openStack(places: Places): Promise<Stack> {
  await using opened = new AsyncDisposableStack()
  const world = opened.use(await openWorld(places))
  const tally = new Tally()
  const instances: Instance[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(instances.splice(0).map((instance) => instance.stop()))
  }
  opened.defer(stop)
  const start = async (): Promise<Instance> => {
    const instance = await Instance.start(world, (reason) => tally.report('other', reason))
    instances.push(instance)
    return instance
  }
  const killed = await start()
  const second = places.postgres === undefined ? undefined : await start()
  const kept = opened.move()
  return {
    world,
    user: world.users[1] ?? world.users[0],
    tally,
    journal: new JournalWatch(world),
    killed,
    first: second ?? killed,
    restart: () => killed.kill(),
    async other() {
      if (second === undefined) await killed.kill()
      return second ?? killed
    },
    stop,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

interface Upload {
  readonly user: WorldUser
  readonly name: string
  readonly path: string
  readonly content: Buffer
}

async function create(stack: Stack, name: string, size: number): Promise<Upload> {
  const { user, first } = stack
  const filename = Buffer.from(name).toString('base64')
  const headers = { 'upload-length': `${size}`, 'upload-metadata': `filename ${filename}` }
  const created = await replyTo(first, user, { method: 'POST', path: UPLOADS, headers })
  expect(created.status).toBe(201)
  return { user, name, path: String(created.headers.location), content: contentOf(name, size) }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: readonly Buffer[]
}

function requestTo({ port }: Instance, { cookie }: WorldUser, asked: Asked) {
  const length = { 'content-length': `${asked.body?.[0]?.length ?? 0}` }
  const headers = { cookie, ...TUS, ...length, ...asked.headers }
  return { agent: new Agent(), port, ...asked, headers }
}

async function replyTo(instance: Instance, user: WorldUser, asked: Asked): Promise<Reply> {
  const outcome = await send(requestTo(instance, user, asked))
  if (outcome.kind !== 'reply') throw new Error(`no response to ${asked.method} ${asked.path}`)
  return outcome
}

/** The first byte, and the one after the last. */
type Range = readonly [number, number]

function appendRequest(instance: Instance, upload: Upload, [from, to]: Range) {
  const { user, path, content } = upload
  const headers = { ...OFFSET_TYPE, 'upload-offset': `${from}` }
  const body = [content.subarray(from, to)]
  return requestTo(instance, user, { method: 'PATCH', path, headers, body })
}

const OFFSET_TYPE = { 'content-type': 'application/offset+octet-stream' } as const

async function append(instance: Instance, upload: Upload, range: Range): Promise<void> {
  const outcome = await send(appendRequest(instance, upload, range))
  expect(outcome).toMatchObject({ status: 204, headers: { 'upload-offset': `${range[1]}` } })
}

/** All of the content, whose rest follows when `goOn` resolves. */
function appendSlowly(
  { killed: { port } }: Stack,
  { user, path, content }: Upload,
  { first, goOn }: { readonly first: number; readonly goOn: Promise<void> },
) {
  const headers = {
    ...TUS,
    ...OFFSET_TYPE,
    cookie: user.cookie,
    'upload-offset': '0',
    'content-length': `${content.length}`,
  }
  async function* pieces(): AsyncGenerator<string | Buffer> {
    yield headText(`PATCH ${path}`, headers)
    yield content.subarray(0, first)
    await goOn
    // Not all of it, so that it can't be sealed.
    yield content.subarray(first, -1)
  }
  return rawRequest({ port, send: pieces(), timeoutMs: REQUEST_TIMEOUT_MS })
}

/** Sends the request when the instance is to die at that moment, and expects it to. */
async function dyingAt<T>(stack: Stack, moment: Moment, request: () => Promise<T>): Promise<T> {
  const killed = stack.killed.diesAt(moment, 60_000)
  const outcome = await request()
  expect({ moment, isDead: await killed }).toEqual({ moment, isDead: true })
  return outcome
}

/** Asks where to continue, again while another instance still counts as finishing the upload. */
async function headAt(instance: Instance, { user, path }: Upload): Promise<Reply> {
  for (;;) {
    const reply = await replyTo(instance, user, { method: 'HEAD', path })
    if (reply.status !== 423) return reply
  }
}

async function offsetAt(instance: Instance, upload: Upload): Promise<number> {
  const { status, headers } = await headAt(instance, upload)
  expect({ name: upload.name, status }).toEqual({ name: upload.name, status: 200 })
  return Number(headers['upload-offset'])
}

async function finish(instance: Instance, upload: Upload, offset: number): Promise<void> {
  await append(instance, upload, [offset, upload.content.length])
}

async function recordedBytes({ world }: Stack, { path }: Upload): Promise<number> {
  const rows = world.database.kysely.selectFrom('resumable_uploads').select('received_bytes')
  const id = path.slice(path.lastIndexOf('/') + 1)
  return (await rows.where('version', '=', id as never).executeTakeFirstOrThrow()).received_bytes
}

async function storedObjects({ world: { service } }: Stack): Promise<number> {
  const signal = AbortSignal.timeout(60_000)
  const found = service.objects.list({ prefix: 'users/', signal })
  let objects = 0
  for await (const _ of found) objects += 1
  return objects
}

/** Asserts that there is one file of each upload, whole, and nothing else. */
async function expectSettled(stack: Stack, uploads: readonly Upload[]): Promise<void> {
  const { world, tally, journal, user } = stack
  const other = await stack.other()
  for (const { name, content } of uploads) {
    const path = `/users/me/repo/${name}`
    const { status, body } = await replyTo(other, user, { method: 'GET', path })
    expect({ name, status, isWhole: body?.equals(content) }).toEqual({
      name,
      status: 200,
      isWhole: true,
    })
  }
  await journal.look()
  await stack.stop()
  expect(await settle({ world, tally, journal })).toBe(2)
  expect(tally.violations).toEqual([])
  const used = uploads.reduce((sum, { content }) => sum + content.length, 0)
  const usage = await readUsage(world.service.ledger, user.userId)
  expect(usage).toMatchObject({ used, reserved: 0, fileCount: uploads.length })
}
