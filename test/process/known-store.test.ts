import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/compose/adapters.ts'
import { openService, type Overrides } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { diagnose } from '../../src/doctor.ts'
import { serve } from '../../src/serve.ts'
import { runCommand as runIn } from '../cli/run-command.ts'
import { createFolder } from '../support/servers/local-server.ts'

const userId = parseUserId('alice')
const LARGE = Buffer.alloc(100_000, 'a')

let opened: AsyncDisposableStack
let DATA_DIR: string
let objects: string
let away: string

beforeEach(async () => {
  opened = new AsyncDisposableStack()
  const folder = await createFolder('known-store')
  opened.defer(() => folder.remove())
  DATA_DIR = folder.path
  objects = join(DATA_DIR, 'objects')
  away = join(DATA_DIR, 'away')
})
afterEach(() => opened.disposeAsync())

function configOf(settings: Readonly<Record<string, string>> = {}) {
  return readConfig({ DATA_DIR, PORT: '0', WEB_PAGE: 'false', METRICS_PORT: '0', ...settings })
}

/** A service with a user, whose files `send` sends. */
async function start(overrides: Overrides = {}) {
  // Without history, what is deleted is garbage.
  const config = configOf({ HISTORY_LIFETIME: '0' })
  const service = await openService(config, overrides)
  opened.defer(() => service.close())
  const server = await serve({ config, service, logger: fastify().log })
  opened.defer(() => server.stop())
  await service.users.create(userId)
  const { secret } = await service.accessTokens.issue({
    userId,
    label: '',
    expiresInSeconds: undefined,
  })
  const headers = { cookie: `access_token=${secret}` }
  const send = async (method: string, name: string, body?: Buffer) =>
    await fetch(`${server.url}/users/me/repo/${name}`, { method, headers, body: body ?? null })
  const stop = async () => {
    await server.stop()
    await service.close()
  }
  return { service, server, send, stop }
}

/** Starts, stores a small and a large file, and stops. */
async function fill(): Promise<void> {
  const { send, stop } = await start()
  expect((await send('PUT', 'small', Buffer.from('a'))).status).toBe(200)
  expect((await send('PUT', 'large', LARGE)).status).toBe(200)
  await stop()
}

/** As where nothing is mounted. */
async function unmount(): Promise<void> {
  await rename(objects, away)
  await mkdir(objects)
}

async function remount(): Promise<void> {
  await rm(objects, { recursive: true })
  await rename(away, objects)
}

const run = (args: string) =>
  runIn(args, ({ acceptsAnyStore }) => openService(configOf(), { acceptsAnyStore }))

async function expectBothFiles(): Promise<void> {
  const { send, stop } = await start()
  expect(await (await send('GET', 'small')).text()).toBe('a')
  expect(Buffer.from(await (await send('GET', 'large')).arrayBuffer()).equals(LARGE)).toBe(true)
  await stop()
}

describe('E23 a folder that is not the one of the database', () => {
  it.each(['empty', 'missing'])('refuses a start where it is %s, and stays so', async (state) => {
    await fill()
    await unmount()
    if (state === 'missing') await rm(objects, { recursive: true })
    await expect(openService(configOf())).rejects.toThrow(
      /^The object store is not the one that the database knows: it has no identity instead of [0-9a-f-]{36}\. Mount the folder .*objects, or correct DATA_DIR or OBJECT_STORE\. /,
    )
    for (const command of ['verify', 'verify --repair', 'sweep', 'users create bob', 'rebuild']) {
      expect(await run(command)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^unavailable: The object store is not the one /) as string,
      })
    }
    const found = (await diagnose({ DATA_DIR })).find(({ check }) => check === 'object store')
    expect(found).toMatchObject({
      result: 'failed',
      detail: expect.stringMatching(
        /^The object store is not the one .*Mount the folder/,
      ) as string,
    })
    const left = await readdir(objects).catch(() => undefined)
    expect(left).toEqual(state === 'empty' ? [] : undefined)
    if (state === 'missing') await mkdir(objects)
    await remount()
    await expectBothFiles()
  })

  it('takes no uploads while it is there, and those that were stored before stay', async () => {
    const logged: string[] = []
    const warn = (_: unknown, message: string) => logged.push(message)
    const { service, send } = await start({ warn, garbageDelayMs: 0 })
    expect((await send('PUT', 'large', LARGE)).status).toBe(200)
    const isReady = async () => (await service.readiness.failures()).size === 0
    await unmount()
    await mkdir(join(objects, 'users'))
    await expect.poll(isReady).toBe(false)
    for (const body of [Buffer.from('a'), LARGE]) {
      const refused = await send('PUT', 'other', body)
      expect(refused.status).toBe(503)
      expect(await refused.json()).toMatchObject({
        code: 'unavailable',
        detail: 'The object store is not the one of this service.',
      })
    }
    expect((await send('GET', 'large')).status).toBe(503)
    await remount()
    await expect.poll(isReady, { timeout: 5000 }).toBe(true)
    expect((await send('PUT', 'other', LARGE)).status).toBe(200)
    expect((await send('GET', 'large')).status).toBe(200)
    expect(logged).toEqual([
      expect.stringMatching(/uploads and removals are refused\. Mount the folder/),
      expect.stringContaining('is the known one again'),
    ])
  })

  it('is not swept, so that what is garbage is not forgotten', async () => {
    const { service, send } = await start({ garbageDelayMs: 0 })
    expect((await send('PUT', 'large', LARGE)).status).toBe(200)
    expect((await send('DELETE', 'large')).status).toBe(204)
    await unmount()
    await mkdir(join(objects, 'users'))
    await expect.poll(async () => (await service.readiness.failures()).size).toBe(1)
    const report = await service.sweeper.sweep({ signal: AbortSignal.timeout(10_000) })
    expect(report).toMatchObject({ removedObjects: 0, failedRemovals: 1 })
    const database = await openDatabase(configOf().database)
    opened.defer(() => database.close())
    expect(await database.kysely.selectFrom('garbage').selectAll().execute()).toHaveLength(1)
  })
})

describe('a folder and a database', () => {
  it('a folder and a database without an identity get one at the next start', async () => {
    await fill()
    const database = await openDatabase(configOf().database)
    await sql`DELETE FROM object_store`.execute(database.kysely)
    await database.close()
    await rm(join(objects, 'store-id'))
    await expectBothFiles()
    expect(await readFile(join(objects, 'store-id'), 'utf8')).toMatch(/^[0-9a-f-]{36}\n$/)
  })

  it('agree again when a new database is rebuilt from the folder', async () => {
    await fill()
    const identity = await readFile(join(objects, 'store-id'), 'utf8')
    for (const suffix of ['', '-wal', '-shm']) {
      await rm(join(DATA_DIR, `database.sqlite${suffix}`), { force: true })
    }
    expect(await run('rebuild')).toMatchObject({ code: 0 })
    expect(await readFile(join(objects, 'store-id'), 'utf8')).toBe(identity)
    await expectBothFiles()
  })
})

describe('verify --adopt-store', () => {
  beforeEach(fill)

  it('takes a copy of the objects without the identity, which nothing else does', async () => {
    await rename(objects, away)
    await mkdir(objects)
    for (const name of await readdir(away)) {
      if (name !== 'store-id') await cp(join(away, name), join(objects, name), { recursive: true })
    }
    expect(await run('verify')).toMatchObject({ code: 1 })
    expect(await run('verify --adopt-store')).toMatchObject({
      code: 0,
      err: expect.stringMatching(/knows the object store as [0-9a-f-]{36} now/) as string,
    })
    expect(await run('verify')).toMatchObject({ code: 0 })
    await expectBothFiles()
  })

  it('takes a store with another identity', async () => {
    const other = '00000000-0000-4000-8000-000000000000'
    await rm(join(objects, 'store-id'))
    await writeFile(join(objects, 'store-id'), other)
    expect(await run('verify')).toMatchObject({ code: 1 })
    expect(await run('verify --adopt-store')).toMatchObject({
      code: 0,
      err: expect.stringContaining(other) as string,
    })
    await expectBothFiles()
  })

  it('takes no store that lacks a file', async () => {
    await rm(join(objects, 'store-id'))
    for (const suffix of ['', '-wal', '-shm']) {
      await rm(join(objects, `pack.sqlite${suffix}`), { force: true })
    }
    expect(await run('verify --adopt-store')).toMatchObject({
      code: 1,
      out: expect.stringContaining('missing_object') as string,
      err: expect.stringContaining('was not adopted') as string,
    })
    expect(await run('verify')).toMatchObject({ code: 1, out: '' })
  })

  it('takes no empty folder, and makes nothing in it', async () => {
    await unmount()
    expect(await run('verify --adopt-store')).toMatchObject({ code: 1, out: '' })
    expect(await readdir(objects)).toEqual([])
  })

  it.each(['--repair', 'alice'])('cannot be combined with %s', async (other) => {
    expect(await run(`verify --adopt-store ${other}`)).toMatchObject({
      code: 1,
      err: 'invalid_parameter: --adopt-store verifies all users, without --repair.',
    })
  })

  it('changes nothing where the database knows the store', async () => {
    const identity = await readFile(join(objects, 'store-id'), 'utf8')
    expect(await run('verify --adopt-store')).toMatchObject({ code: 0 })
    expect(await readFile(join(objects, 'store-id'), 'utf8')).toBe(identity)
  })
})
