import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { forTest } from '../../support/for-test.ts'
import { startDemo } from '../../support/service/demo.ts'
import { uploadHead } from '../../support/http/multipart-body.ts'
import { exitOf, startProgram, temporaryFolder } from '../../support/service/program.ts'
import { type RawExchange, rawRequest } from '../../support/http/raw-http.ts'

const SIZE = 300_000

/** Beside one file, three uploads take all that the user may have, by number and by bytes. */
const LIMITS = { MAX_UPLOADS: '3', BASE_CAPACITY: `${4 * SIZE}` }

describe('G02 a start on SQLite', () => {
  it('gives back at once what killed processes had under way, and removes what they wrote', async () => {
    const DATA_DIR = await temporaryFolder(forTest())
    const first = await startService(DATA_DIR)
    expect((await first.put('kept')).status).toBe(200)
    await first.kill()
    for (let kill = 0; kill < 3; kill++) {
      const service = await startService(DATA_DIR)
      const uploads = ['a', 'b', 'c'].map((name) => service.put(name, new Promise(() => undefined)))
      await expect.poll(() => pending(DATA_DIR)).toBe(3)
      expect((await service.put('refused')).status).toBe(429)
      await service.kill()
      for (const { status } of await Promise.all(uploads)) expect(status).toBe(0)
    }
    const service = await startService(DATA_DIR)
    const startedAt = performance.now()
    const uploads = ['a', 'b', 'kept'].map((name) => service.put(name))
    for (const { status } of await Promise.all(uploads)) expect(status).toBe(200)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(service.output()).toMatch(/"uploads":3.*"upload leases of a crashed process ended"/)
    await expect.poll(() => states(DATA_DIR)).toEqual({ committed: 4, aborted: 9 })
    expect(await reserved(DATA_DIR)).toBe(0)
    await sweep(DATA_DIR)
    // Three files, and the object that was replaced.
    expect(await storedFiles(DATA_DIR)).toBe(4)
  })

  it('leaves alone what a process has under way that stands still, and commits go on in it', async () => {
    const DATA_DIR = await temporaryFolder(forTest())
    // Before the first start nothing can be known of others.
    await (await startService(DATA_DIR)).kill()
    const service = await startService(DATA_DIR)
    const { promise: go, resolve: goOn } = Promise.withResolvers<void>()
    const upload = service.put('a', go)
    await expect.poll(() => pending(DATA_DIR)).toBe(1)
    service.pause()
    const other = await startService(DATA_DIR)
    expect((await other.put('b')).status).toBe(200)
    expect(other.output()).not.toContain('ended the uploads')
    await sweep(DATA_DIR)
    expect(await pending(DATA_DIR)).toBe(1)
    service.resume()
    goOn()
    expect((await upload).status).toBe(200)
  })
})

async function startService(DATA_DIR: string) {
  const environment = { DATA_DIR, ...LIMITS }
  const { process, output, url, cookie } = await startDemo({ environment, opened: forTest() })
  const port = Number(new URL(url).port)
  return {
    output,
    /** Uploads a file, whose last byte follows when `go` resolves. */
    async put(name: string, go: Promise<void> = Promise.resolve()): Promise<RawExchange> {
      const path = `/users/me/repo/${name}`
      const headers = { Cookie: cookie }
      async function* pieces(): AsyncGenerator<string | Buffer> {
        yield uploadHead({ method: 'PUT', path, length: SIZE, headers })
        yield Buffer.alloc(SIZE - 1)
        await go
        yield Buffer.alloc(1)
      }
      return await rawRequest({ port, send: pieces(), timeoutMs: 60_000 })
    },
    pause: () => process.kill('SIGSTOP'),
    resume: () => process.kill('SIGCONT'),
    async kill(): Promise<void> {
      process.kill('SIGKILL')
      await exitOf(process)
    },
  }
}

/** Has a command do so, beside whoever serves. */
async function sweep(DATA_DIR: string): Promise<void> {
  const { process } = await startProgram({
    args: ['sweep'],
    environment: { DATA_DIR },
    opened: forTest(),
  })
  expect(await exitOf(process)).toBe(0)
}

async function storedFiles(folder: string): Promise<number> {
  const users = join(folder, 'objects', 'users')
  const entries = await readdir(users, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

async function pending(folder: string): Promise<number> {
  return (await states(folder))['pending'] ?? 0
}

/** How many uploads of each state the journal has. */
function states(folder: string): Promise<Readonly<Record<string, number>>> {
  return look(folder, async ({ kysely }) => {
    const rows = await kysely.selectFrom('uploads').select('state').execute()
    const counts: Record<string, number> = {}
    for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
    return counts
  })
}

function reserved(folder: string): Promise<number | undefined> {
  return look(folder, async ({ kysely }) => {
    const rows = await kysely.selectFrom('quotas').select('reserved_bytes').execute()
    return rows[0]?.reserved_bytes
  })
}

async function look<T>(folder: string, read: (database: Database) => Promise<T>): Promise<T> {
  const database = await openSqlite({ file: join(folder, 'database.sqlite') })
  try {
    return await read(database)
  } finally {
    await database.close()
  }
}
