import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { diagnose } from '../../src/doctor.ts'
import { runSql } from '../support/run-sql.ts'
import { createDatabase } from '../support/servers/postgres.ts'
import { temporaryFolder } from '../support/service/program.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('the doctor, for a user of PostgreSQL', () => {
  const opened = new AsyncDisposableStack()
  const role = `role_${randomBytes(8).toString('hex')}`
  let url: string
  let DATA_DIR: string

  beforeAll(async () => {
    const own = await createDatabase(server ?? '')
    opened.defer(async () => {
      await own.drop()
      await runSql(server ?? '', `DROP ROLE ${role}`)
    })
    await runSql(own.url, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    await runSql(own.url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    url = own.url
    DATA_DIR = await temporaryFolder(opened)
  })

  afterAll(() => opened.disposeAsync())

  async function examineDatabase() {
    const as = new URL(url)
    as.username = role
    as.password = 'secret'
    const found = await diagnose({ DATA_DIR, DATABASE_URL: as.href })
    return found.find(({ check }) => check === 'database')
  }

  it('reports that it may not create tables', async () => {
    expect(await examineDatabase()).toMatchObject({
      result: 'failed',
      detail: expect.stringContaining('may not create tables') as string,
    })
  })

  it('is content if it may', async () => {
    await runSql(url, `GRANT CREATE ON SCHEMA public TO ${role}`)
    expect(await examineDatabase()).toMatchObject({ result: 'ok' })
  })
})
