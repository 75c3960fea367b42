import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { durabilityWarnings } from '../../../src/database/postgres/server-settings.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { diagnose } from '../../../src/doctor.ts'
import { BASE_CAPACITY, refusalOf } from '../../core/ledger/fixture.ts'
import { runSql } from '../../support/run-sql.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { serverUrl } from './harness.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('a PostgreSQL server with other settings', () => {
  let opened = new AsyncDisposableStack()

  afterEach(async () => {
    await opened.disposeAsync()
    opened = new AsyncDisposableStack()
  })

  async function createWith(options: string): Promise<string> {
    const name = `test_${randomBytes(8).toString('hex')}`
    await runSql(serverUrl(), `CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
    opened.defer(async () => void (await runSql(serverUrl(), `DROP DATABASE ${name} WITH (FORCE)`)))
    const url = new URL(serverUrl())
    url.pathname = `/${name}`
    return url.href
  }

  async function createMigrated(): Promise<TestDatabase> {
    const own = await createMigratedDatabase()
    opened.defer(() => own.drop())
    return own
  }

  async function open(url: string) {
    const database = await openPostgres({ url })
    opened.defer(() => database.close())
    return database
  }

  it.each(['LATIN1', 'SQL_ASCII', 'WIN1252', 'EUC_JP'])(
    'a server whose encoding is %s is refused, and nothing is made there',
    async (encoding) => {
      const url = await createWith(`ENCODING '${encoding}' LOCALE 'C'`)
      const database = await open(url)
      const cause = { message: expect.stringMatching(`is ${encoding}, but must be UTF8`) as string }
      const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
      expect(await refusalOf(users.findUser(parseUserId('a')))).toMatchObject({ cause })
      expect(await refusalOf(migrate(database))).toMatchObject({ code: 'unavailable', cause })
      expect(await runSql(url, "SELECT 1 FROM pg_class WHERE relname = 'users'")).toEqual([])
      const environment = { DATA_DIR: await temporaryFolder(opened), DATABASE_URL: url }
      expect((await diagnose(environment)).find(({ check }) => check === 'database')).toMatchObject(
        { result: 'failed', detail: expect.stringContaining('must be UTF8') as string },
      )
    },
  )

  it('is used with our own where a role, a database or the URL has others', async () => {
    const { url, name } = await createMigrated()
    const others = {
      client_encoding: 'LATIN1',
      standard_conforming_strings: 'off',
      synchronous_commit: 'off',
      enable_seqscan: 'on',
    }
    for (const [setting, value] of Object.entries(others)) {
      await runSql(url, `ALTER DATABASE ${name} SET ${setting} = '${value}'`)
    }
    for (const query of ['', '?client_encoding=LATIN1']) {
      const database = await open(url + query)
      const { rows } = await database.query((kysely) =>
        sql<{ name: string; setting: string }>`
          SELECT name, setting FROM pg_settings WHERE name IN (${sql.join(Object.keys(others))})
        `.execute(kysely),
      )
      expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toEqual({
        client_encoding: 'UTF8',
        standard_conforming_strings: 'on',
        synchronous_commit: 'on',
        enable_seqscan: 'off',
      })
      const text = `日本 ł \u{1F600} \\' "`
      const read = await database.query((kysely) =>
        sql<{ got: string; same: boolean }>`
          SELECT CAST(${text} AS TEXT) AS got, ${sql.lit(text)} = ${text} AS same
        `.execute(kysely),
      )
      expect(read.rows).toEqual([{ got: text, same: true }])
    }
  })

  it('a server without triggers and foreign keys is refused', async () => {
    const { url, name } = await createMigrated()
    await runSql(url, `ALTER DATABASE ${name} SET session_replication_role = replica`)
    const users = createUserStore(await open(url), { baseCapacity: BASE_CAPACITY })
    expect(await refusalOf(users.findUser(parseUserId('a')))).toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringContaining('disables triggers') as string },
    })
  })

  it('a server that can lose what it confirms gets a warning for each such setting', async () => {
    const { url, name } = await createMigrated()
    const [fsync] = await runSql<{ fsync: string }>(url, 'SHOW fsync')
    const [pages] = await runSql<{ full_page_writes: string }>(url, 'SHOW full_page_writes')
    const lost = 'a crash can lose acknowledged files'
    const expected = [
      fsync?.fsync === 'off' ? [`fsync is off on the PostgreSQL server: ${lost}`] : [],
      pages?.full_page_writes === 'off'
        ? [`full_page_writes is off on the PostgreSQL server: ${lost}`]
        : [],
    ].flat()
    expect(await durabilityWarnings(await open(url))).toEqual(expected)
    await runSql(url, `ALTER DATABASE ${name} SET zero_damaged_pages = on`)
    const all = [...expected, `zero_damaged_pages is on on the PostgreSQL server: ${lost}`]
    expect(await durabilityWarnings(await open(url))).toEqual(all)
    const environment = { DATA_DIR: await temporaryFolder(opened), DATABASE_URL: url }
    expect((await diagnose(environment)).find(({ check }) => check === 'database')).toEqual({
      check: 'database',
      result: 'ok',
      detail: `PostgreSQL responds, and its clock is correct, with warnings: ${all.join('; ')}`,
    })
  })
})
