import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, inject } from 'vitest'
import { createS3Store } from '../../src/object-store/s3/store.ts'
import { runSql } from '../support/run-sql.ts'
import { createDatabase } from '../support/servers/postgres.ts'
import { isWithoutProduction } from '../support/service/production-service.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'
import { fillBucket } from './s3-copy.ts'
import { upgradeSuite } from './upgrade-suite.ts'

describe.skipIf(isWithoutProduction())('with real servers', () => {
  upgradeSuite('production', async (folder, opened) => {
    const database = await createDatabase(inject('postgres') ?? '')
    opened.defer(() => database.drop())
    await runSql(database.url, await readFile(join(folder, 'database.sql'), 'utf8'))
    const bucket = freshBucket(inject('minio'))
    const store = createS3Store(bucket)
    await store.prepare(AbortSignal.timeout(10_000))
    await store.close()
    opened.defer(() => removeBucket(bucket))
    await fillBucket(bucket, await readFile(join(folder, 'objects.json.gz')))
    return { DATABASE_URL: database.url, ...s3Settings(bucket) }
  })
})
