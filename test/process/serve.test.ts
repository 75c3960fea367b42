import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fastify, type FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { serve, type ServeOptions } from '../../src/serve.ts'
import { openDatabase } from '../../src/compose/adapters.ts'
import { openService, type Service } from '../../src/compose/compose.ts'
import { outage } from '../support/faults/faults.ts'
import { send } from '../proofs/crash/request.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { readUsage } from '../support/read-usage.ts'

const userId = parseUserId('alice')
const UPLOADED = '/users/me/repo/file'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

/** A server on a new database that records the use of tokens every 20 ms, with a token of alice. */
async function start(
  change: (service: Service) => Service = (service) => service,
  {
    intervals = { recordIntervalMs: 20 },
    pages = '',
    adminToken,
    language = '',
    publicUrl = '',
  }: Pick<ServeOptions, 'intervals' | 'pages'> & {
    readonly adminToken?: string
    readonly language?: string
    readonly publicUrl?: string
  } = {},
) {
  const folder = await createFolder('serve')
  opened.defer(() => folder.remove())
  // Where nobody has built it a page makes a warning of its own.
  const WEB_PAGE = String(pages !== '')
  const admin = adminToken === undefined ? {} : { ADMIN_TOKEN: adminToken, ADMIN_PORT: '0' }
  const settings = { WEB_PAGE, PAGE_LANGUAGE: language, PUBLIC_URL: publicUrl, ...admin }
  const config = readConfig({ DATA_DIR: folder.path, PORT: '0', ...settings })
  const service = change(await openService(config))
  opened.defer(() => service.close())
  const warnings: unknown[] = []
  const warn = (...logged: unknown[]) => warnings.push(logged)
  const logger = Object.assign(fastify().log, { warn }) as FastifyBaseLogger
  const server = await serve({ config, service, logger, intervals, pages })
  opened.defer(() => server.stop())
  await service.users.create(userId)
  const terms = { userId, label: '', expiresInSeconds: undefined }
  const { secret } = await service.accessTokens.issue(terms)
  return { config, service, secret, server, warnings }
}

describe('the server', () => {
  it('uploads and downloads without a warning of Node, such as one of too many listeners', async () => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', onWarning)
    opened.defer(() => void process.off('warning', onWarning))
    const { server, secret } = await start()
    const file = { agent: new Agent(), port: Number(new URL(server.url).port), path: UPLOADED }
    const headers = { cookie: `access_token=${secret}` }
    const body = [Buffer.alloc(200_000)]
    const put = await send({ ...file, method: 'PUT', headers, body })
    expect(put).toMatchObject({ status: 200 })
    const get = await send({ ...file, method: 'GET', headers })
    expect(get).toMatchObject({ status: 200, body: body[0] })
    expect(warnings).toEqual([])
  })

  it('names its version in its metrics', async () => {
    const { service } = await start()
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
    const metric = `cloud_repository_build_info{version="${version}"} 1\n`
    expect(await service.metrics.expose()).toContain(metric)
  })

  it('G02 has given back what a crash has left before it listens', async () => {
    const { service, config, server } = await start()
    await server.stop()
    await service.close()
    const database = await openDatabase(config.database)
    await sql`
      INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, state, lease_until)
      VALUES ('v', ${userId}, 'a', 'k', 500, 'pending', ${Date.now() + 60_000})
    `.execute(database.kysely)
    await sql`UPDATE quotas SET reserved_bytes = 500 WHERE user_id = ${userId}`.execute(
      database.kysely,
    )
    await database.close()
    const again = await openService(config)
    opened.defer(() => again.close())
    const restarted = await serve({ config, service: again, logger: fastify().log })
    opened.defer(() => restarted.stop())
    expect(await readUsage(again.ledger, userId)).toMatchObject({ reserved: 0 })
  })

  it('G02 starts although it cannot give back what a crash has left, as on a full disk, and warns', async () => {
    const { service, config, server } = await start()
    await server.stop()
    await service.close()
    const database = await openDatabase(config.database)
    await sql`
      CREATE TRIGGER broken BEFORE UPDATE ON uploads BEGIN SELECT RAISE(ABORT, 'broken'); END
    `.execute(database.kysely)
    await sql`
      INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, state, lease_until)
      VALUES ('v', ${userId}, 'a', 'k', 0, 'pending', ${Date.now() + 60_000})
    `.execute(database.kysely)
    await database.close()
    const warnings: string[] = []
    const warn = (err: unknown, message: string) => warnings.push(`${message}: ${String(err)}`)
    const again = await openService(config, { warn })
    opened.defer(() => again.close())
    const restarted = await serve({ config, service: again, logger: fastify().log })
    opened.defer(() => restarted.stop())
    expect((await fetch(`${restarted.url}/livez`)).status).toBe(200)
    expect(warnings).toEqual([expect.stringMatching(/leases.*broken/)])
  })

  it('records the figures of the day', async () => {
    const { service } = await start(undefined, { intervals: { sweepIntervalMs: 20 } })
    const rows = async () => (await service.ledger.listDailyUsage(1)).rows
    await expect.poll(rows).toMatchObject([{ files: 0, used: 0 }])
  })

  it('records from time to time when access tokens were used', async () => {
    const { service, secret } = await start()
    const lastUsedAt = async () => (await service.accessTokens.list(userId))[0]?.lastUsedAt ?? 0
    for (let time = 0; time < 2; time++) {
      const before = await lastUsedAt()
      await service.accessTokens.verify(secret)
      await expect.poll(lastUsedAt, { interval: 5 }).toBeGreaterThan(before)
    }
  })

  it('tells when it could not record that, goes on, and ends well', async () => {
    let failures = 0
    const recordUses = async (): Promise<void> => {
      failures += 1
      throw outage()
    }
    const { service, secret, server, warnings } = await start((service) => ({
      ...service,
      accessTokens: { ...service.accessTokens, recordUses },
    }))
    await expect.poll(() => failures).toBeGreaterThan(1)
    expect(await service.accessTokens.verify(secret)).toMatchObject({ userId })
    await server.stop()
    expect(warnings).toHaveLength(failures)
  })

  it.each([
    ['whose compressed forms are missing', 'index.html', 'reading the web pages failed'],
    ['with a file where a folder should be', 'assets', 'reading the web pages failed'],
    ['of which there is nothing', 'other', 'web pages not found'],
  ])('serves on without a page %s, and warns', async (_, name, warning) => {
    const folder = await createFolder('page')
    opened.defer(() => folder.remove())
    await writeFile(join(folder.path, name), '')
    const adminToken = 'a-token-of-the-operator'
    const options = { pages: folder.path, adminToken }
    const { server, secret, warnings } = await start(undefined, options)
    expect(server).toMatchObject({ hasPage: false, operatorPageUrl: undefined })
    expect(JSON.stringify(warnings)).toContain(warning)
    expect(warnings).toHaveLength(1)
    const headers = { cookie: `access_token=${secret}` }
    expect((await fetch(`${server.url}/users/me/capacity`, { headers })).status).toBe(200)
    expect((await fetch(server.url)).status).toBe(404)
  })

  it('refuses a PAGE_LANGUAGE that its pages do not have, and tells them this one and PUBLIC_URL', async () => {
    const folder = await createFolder('page')
    opened.defer(() => folder.remove())
    await mkdir(join(folder.path, 'assets'))
    const names = ['index.html', 'operator.html', 'assets/language-de-12345678.js']
    for (const name of names.flatMap((name) => [name, `${name}.br`, `${name}.gz`])) {
      await writeFile(join(folder.path, name), '<title>Cloud Repository')
    }
    const refused = start(undefined, { pages: folder.path, language: 'fr' })
    await expect(refused).rejects.toThrow('\n  PAGE_LANGUAGE: must be one of en, de')
    const settings = { language: 'de', publicUrl: 'https://files.example.com/a/' }
    const { server } = await start(undefined, { pages: folder.path, ...settings })
    expect(server.hasPage).toBe(true)
    const document = await (await fetch(server.url)).text()
    expect(document).toContain('"language":"de"'.replaceAll('"', '&quot;'))
    expect(document).toContain('<meta name="public-url" content="https://files.example.com/a">')
  })

  it('ends although the database does not answer', async () => {
    let isAsked = false
    const recordUses = () => {
      isAsked = true
      return new Promise<void>(() => {})
    }
    const { server } = await start((service) => ({
      ...service,
      accessTokens: { ...service.accessTokens, recordUses },
    }))
    await expect.poll(() => isAsked).toBe(true)
    const begun = performance.now()
    await server.stop()
    expect(performance.now() - begun).toBeLessThan(5_000)
  })
})

describe('while it drains', () => {
  it('serves those who kept a connection and those who come, tells both to leave, and is not ready', async () => {
    const { server } = await start()
    const port = Number(new URL(server.url).port)
    const agent = new Agent({ keepAlive: true })
    const ask = (path: string, own?: Agent) =>
      send({ agent: own ?? new Agent({ keepAlive: true }), port, method: 'GET', path })
    expect(await ask('/livez', agent)).toMatchObject({ headers: { connection: 'keep-alive' } })
    const stopped = server.stop({ drainMs: 60_000 })
    const leaving = { status: 200, headers: { connection: 'close' } }
    expect(await ask('/livez', agent)).toMatchObject(leaving)
    expect(await ask('/livez')).toMatchObject(leaving)
    expect(await ask('/readyz')).toMatchObject({ status: 503 })
    // Nobody is there any more and nobody comes, so it does not wait for the whole minute.
    await stopped
    expect(await ask('/livez')).toEqual({ kind: 'unsent' })
  })

  it('waits for a client that keeps its connection no longer than that', async () => {
    const { server } = await start()
    const port = Number(new URL(server.url).port)
    const agent = new Agent({ keepAlive: true })
    await send({ agent, port, method: 'GET', path: '/livez' })
    const begun = performance.now()
    await server.stop({ drainMs: 3_000 })
    expect(performance.now() - begun).toBeGreaterThanOrEqual(2_990)
    agent.destroy()
  })

  it('is not held up by a connection on which nothing was ever sent', async () => {
    const { server } = await start()
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    const closed = once(socket, 'close')
    socket.resume()
    await once(socket, 'connect')
    const begun = performance.now()
    await server.stop()
    await closed
    // The grace period for requests under way is 25 s.
    expect(performance.now() - begun).toBeLessThan(15_000)
  })
})
