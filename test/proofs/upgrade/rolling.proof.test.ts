import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { createDatabase } from '../../support/servers/postgres.ts'
import { runSql } from '../../support/run-sql.ts'
import { digest } from '../../support/objects.ts'
import { issueCookie, runCommand, startService } from '../../support/service/running-service.ts'
import { s3Settings } from '../../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../../support/service/test-bucket.ts'
import { unpackOlderRelease, whyNoOlderRelease } from './older-release.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const reason = await whyNoOlderRelease()
if (reason !== undefined) console.warn(`SKIPPED, the rolling upgrade: ${reason}`)
const isMissing = minio === undefined || postgres === undefined || reason !== undefined

const USERS = ['ada', 'bob', 'cyd']
const NAMES = Array.from({ length: 6 }, (_, index) => `file-${index}`)
const ROUNDS = 60

let opened: AsyncDisposableStack
beforeEach(() => {
  opened = new AsyncDisposableStack()
})
afterEach(() => opened.disposeAsync())

describe.skipIf(isMissing)('a rolling upgrade', { timeout: 240_000 }, () => {
  it('F10 has the older and this version serve the same users on one database and one bucket', async () => {
    const { environment, databaseUrl } = await openShared()
    const older = { environment, opened, cwd: await unpackOlderRelease(opened) }
    const first = await startService(older)
    const second = await startService(older)
    // The start of this version migrates the database under both.
    const newer = await startService({ environment, opened })
    const cookies = await Promise.all(
      USERS.map((user) => issueCookie(user, { environment, opened })),
    )
    const urls = [first.url, second.url, newer.url]

    const sweeping = sweepOften(databaseUrl, { environment, opened })
    const states = await Promise.all(cookies.map((cookie) => work({ urls, cookie })))
    // The upgrade ends: the older ones stop, one after the other, while the rest goes on.
    await first.stop()
    const more = await Promise.all(
      cookies.map((cookie) => work({ urls: [second.url, newer.url], cookie })),
    )
    await second.stop()
    await sweeping.stop()

    for (const [index, cookie] of cookies.entries()) {
      const expected = new Map([...(states[index] ?? []), ...(more[index] ?? [])])
      for (const [name, sha256] of expected) {
        expect(await read({ url: newer.url, cookie, name })).toBe(sha256)
      }
    }
    const verified = await runCommand('verify --deep --json', { environment, opened })
    expect(verified.code).toBe(0)
    expect(verified.output).toContain('"remaining":0')
    for (const output of [first, second, newer].map((service) => service.output())) {
      expect(output).not.toMatch(/internal_error|"level":(50|60)/)
    }
    await newer.stop()
  })
})

async function openShared() {
  const bucket = freshBucket(minio)
  const store = createS3Store(bucket)
  await store.prepare(AbortSignal.timeout(10_000))
  await store.close()
  opened.defer(() => removeBucket(bucket))
  const own = await createDatabase(postgres ?? '')
  opened.defer(() => own.drop())
  const databaseUrl = own.url
  return { databaseUrl, environment: { DATABASE_URL: databaseUrl, ...s3Settings(bucket) } }
}

interface Client {
  readonly urls: readonly string[]
  readonly cookie: string
}

/**
 * Uploads, overwrites, deletes and reads at the instances in turn, several at once but never two on one name, and
 * returns the digest that each name must have at the end; `undefined` for one that must be gone.
 */
async function work({ urls, cookie }: Client): Promise<Map<string, string | undefined>> {
  const state = new Map<string, string | undefined>()
  const headers = { cookie }
  await Promise.all(
    NAMES.map(async (name, offset) => {
      for (let round = 0; round < ROUNDS / NAMES.length; round++) {
        const url = urls[(round + offset) % urls.length] ?? ''
        const file = `${url}/users/me/repo/${name}`
        if (round % 4 === 3) {
          await succeed(file, { method: 'DELETE', headers })
          state.set(name, undefined)
        } else {
          const body = randomBytes(1000 + 100 * round)
          await succeed(file, { method: 'PUT', headers, body })
          state.set(name, digest(body))
        }
        const other = urls[(round + offset + 1) % urls.length] ?? ''
        expect(await read({ url: other, cookie, name })).toBe(state.get(name))
      }
    }),
  )
  return state
}

async function succeed(url: string, request: RequestInit): Promise<void> {
  const reply = await fetch(url, request)
  const said = await reply.text()
  if (!reply.ok) throw new Error(`${request.method} ${url}: ${reply.status} ${said}`)
}

async function read({ url, cookie, name }: { url: string; cookie: string; name: string }) {
  const reply = await fetch(`${url}/users/me/repo/${name}`, { headers: { cookie } })
  const content = new Uint8Array(await reply.arrayBuffer())
  return reply.status === 404 ? undefined : digest(content)
}

/** Makes garbage due at once and sweeps, beside the sweeps that every instance does by itself. */
function sweepOften(
  databaseUrl: string,
  program: { environment: Readonly<Record<string, string>>; opened: AsyncDisposableStack },
) {
  const stopping = new AbortController()
  const sweeps = run()
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await runSql(databaseUrl, 'UPDATE garbage SET not_before = 0')
      expect(await runCommand('sweep', program)).toMatchObject({ code: 0 })
    }
  }
  return {
    stop: async () => {
      stopping.abort()
      await sweeps
    },
  }
}
