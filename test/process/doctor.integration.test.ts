import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { diagnose } from '../../src/doctor.ts'
import { runSql } from '../support/run-sql.ts'
import { createDatabase } from '../support/servers/postgres.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { publicEndpoint, redirectSettings } from '../support/service/s3-service.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'

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

const minio = inject('minio')

describe.skipIf(minio === undefined)('the doctor, for downloads that are redirected to S3', () => {
  const opened = new AsyncDisposableStack()
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    const bucket = freshBucket(minio)
    opened.defer(() => removeBucket(bucket))
    const DATA_DIR = await temporaryFolder(opened)
    environment = { DATA_DIR, ...s3Settings(bucket), ...redirectSettings(minio, { aboveBytes: 1 }) }
  })
  afterAll(() => opened.disposeAsync())

  async function examine(settings: Readonly<Record<string, string>> = {}) {
    const found = await diagnose({ ...environment, ...settings })
    expect(found.find(({ check }) => check === 'object store')).toMatchObject({ result: 'ok' })
    return found.find(({ check }) => check === 'download redirect')
  }

  it('downloads an object at S3_PUBLIC_ENDPOINT', async () => {
    const { hostname } = new URL(publicEndpoint(minio) ?? '')
    const detail = `read an object from ${hostname}, past the service`
    expect(await examine()).toMatchObject({ result: 'ok', detail })
    expect(await examine({ DOWNLOAD_REDIRECT_ABOVE: '' })).toBeUndefined()
  })

  it('reports that nothing answers there, or another server', async () => {
    const stranger = createServer((_, response) => response.writeHead(404).end('nobody'))
    stranger.listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const { port } = stranger.address() as AddressInfo
    const S3_PUBLIC_ENDPOINT = `http://127.0.0.1:${port}`
    expect(await examine({ S3_PUBLIC_ENDPOINT })).toMatchObject({
      result: 'failed',
      detail: expect.stringMatching(
        /^It answers with 404\. Check that S3_PUBLIC_ENDPOINT /,
      ) as string,
    })
    stranger.close()
    await once(stranger, 'close')
    expect(await examine({ S3_PUBLIC_ENDPOINT })).toMatchObject({ result: 'failed' })
  })
})
