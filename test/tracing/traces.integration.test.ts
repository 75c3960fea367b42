import { describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../support/servers/postgres.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'
import { CLIENT, startTraceCollector } from '../support/http/trace-collector.ts'
import { startTracedDemo, traceOf, uploadInPieces } from './traced-demo.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const missing = minio === undefined || postgres === undefined

describe.skipIf(missing)('the traces on PostgreSQL and MinIO', () => {
  it('name both, and have all calls of a request under it', async () => {
    await using opened = new AsyncDisposableStack()
    const database = await createDatabase(postgres ?? '')
    opened.defer(() => database.drop())
    const bucket = freshBucket(minio)
    opened.defer(() => removeBucket(bucket))
    const collector = await startTraceCollector()
    opened.defer(() => collector.stop())
    const environment = { DATABASE_URL: database.url, ...s3Settings(bucket) }
    const { url, cookie } = await startTracedDemo({ collector, environment, opened })
    const file = `${url}/users/me/repo/a`
    expect((await uploadInPieces(file, cookie)).status).toBe(200)
    const put = await traceOf(collector, 'PUT')
    const store = ['object_store.put']
    const ledger = ['ledger.begin', 'ledger.extend', 'ledger.commit']
    expect(new Set(put.under)).toEqual(
      new Set(['user_store.findAccessTokenUser', ...ledger, ...store]),
    )
    await (await fetch(file, { headers: { cookie } })).arrayBuffer()
    expect((await traceOf(collector, 'GET')).under).toEqual([
      'ledger.findFile',
      'object_store.open',
    ])
    const key: unknown = expect.stringMatching(/^users\/demo\//)
    expect(collector.spans.find(({ name }) => name === 'object_store.put')).toMatchObject({
      kind: CLIENT,
      attributes: { 'aws.s3.bucket': bucket.bucket, 'aws.s3.key': key },
    })
    expect(collector.spans.find(({ name }) => name === 'ledger.commit')).toMatchObject({
      kind: CLIENT,
      attributes: { 'db.system.name': 'postgresql' },
    })
    expect(collector.text()).not.toContain(new URL(database.url).host)
  })
})
