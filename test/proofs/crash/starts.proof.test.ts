import { randomUUID } from 'node:crypto'
import { describe, expect, inject, it } from 'vitest'
import { forTest } from '../../support/for-test.ts'
import { createDatabase } from '../../support/servers/postgres.ts'
import { startProgram, temporaryFolder } from '../../support/service/program.ts'
import { issueCookie } from '../../support/service/running-service.ts'
import { s3Settings } from '../../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../../support/service/test-bucket.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const missing = minio === undefined || postgres === undefined

describe('three instances that start at once where there is nothing yet (G04)', () => {
  it('all come up on SQLite and files', async () => {
    await expectAllToServe({ DATA_DIR: await temporaryFolder(forTest()) })
  })

  it.skipIf(missing)('all come up on PostgreSQL and MinIO, with one set of tables', async () => {
    const database = await createDatabase(postgres ?? '')
    forTest().defer(() => database.drop())
    const bucket = freshBucket(minio)
    forTest().defer(() => removeBucket(bucket))
    await expectAllToServe({ DATABASE_URL: database.url, ...s3Settings(bucket) })
  })
})

/** Each answers that it is ready, and a file that one took is downloaded from every other. */
async function expectAllToServe(environment: Readonly<Record<string, string>>): Promise<void> {
  const settings = { ...environment, LOG_LEVEL: 'info' }
  const started = await Promise.all(
    [1, 2, 3].map(() =>
      startProgram({ args: ['serve'], environment: settings, opened: forTest() }),
    ),
  )
  const urls: string[] = []
  for (const { output, process } of started) {
    await expect.poll(output, { timeout: 90_000 }).toMatch(/the API listens at http/)
    expect(process.exitCode).toBeNull()
    urls.push(/the API listens at (http:\/\/[\d.:]+)/.exec(output())?.[1] ?? '')
  }
  const cookie = await issueCookie('alice', { environment, opened: forTest() })
  const path = `/users/me/repo/${randomUUID()}`
  const put = await fetch(`${urls[0]}${path}`, {
    method: 'PUT',
    headers: { cookie },
    body: 'hello',
  })
  expect(put.status).toBe(200)
  for (const url of urls) {
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(await (await fetch(`${url}${path}`, { headers: { cookie } })).text()).toBe('hello')
  }
}
