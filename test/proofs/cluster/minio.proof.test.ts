import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createS3Store, type S3StoreOptions } from '../../../src/object-store/s3/store.ts'
import { createFolder, findProgram } from '../../support/servers/local-server.ts'
import { type MinioCluster, startMinioCluster } from '../../support/servers/minio-cluster.ts'
import { describeCopies, haveObject, isOnAll } from '../../support/servers/minio-copies.ts'
import { freshBucket } from '../../support/service/test-bucket.ts'
import {
  startTestService,
  type TestAdapters,
  type TestService,
} from '../../support/service/test-service.ts'
import { type Load, startLoad } from './load.ts'
import { contentOf, Register } from './register.ts'
import { readFrom, uploadTo } from './requests.ts'
import { expectSettled } from './settled.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'

const KIB = 1024
const MIB = KIB * KIB

const skipped = isSkipped(await whyMissing(findProgram('minio')))

describe.skipIf(skipped)('the service on four nodes of MinIO', { timeout: 480_000 }, () => {
  let cluster: MinioCluster
  let adapters: TestAdapters
  let service: TestService
  let opened: AsyncDisposableStack
  let bucket: S3StoreOptions

  beforeAll(async () => {
    cluster = await startMinioCluster(await findProgram('minio'))
  })
  afterAll(() => cluster?.stop())

  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    await cluster.whole()
    const folder = opened.adopt(await createFolder('service'), (it) => it.remove())
    const database = await openSqlite({ file: join(folder.path, 'test.db') })
    opened.defer(() => database.close())
    await migrate(database)
    bucket = freshBucket(cluster.address)
    await prepare(bucket)
    const objects = createS3Store({ ...bucket, partSize: 5 * MIB, deadlines })
    opened.defer(() => objects.close())
    adapters = { database, objects }
    service = await startTestService(adapters, { leaseMs: 6_000 })
    opened.defer(() => service.stop())
  })
  afterEach(() => opened.disposeAsync())

  function startMixedLoad(): Promise<Load> {
    return startLoad({
      services: [service],
      // So many that what each replaces meanwhile stays below what is kept of a user.
      users: 4,
      filesPerUser: 3,
      // Less than three of the largest need, so that some uploads are refused.
      capacity: 12 * MIB,
      sizes: [0, 1, 10 * KIB, 300 * KIB, 300 * KIB, 5 * MIB, 5 * MIB + 1],
      seed: 1,
    })
  }

  const objectOf = (key: string) => ({ bucket: bucket.bucket, key })
  const copiesOf = (key: string) => describeCopies(cluster.nodes, objectOf(key))

  /**
   * Of a node that died a lock can be left, on which all that is asked of an object waits until the others begin anew.
   */
  async function loseLocks(): Promise<void> {
    await Promise.all(cluster.nodes.map((node) => node.kill()))
    await cluster.whole()
    await findFiles()
  }

  /** A node that has just come back denies for a while what it has not found on the others. */
  async function findFiles(): Promise<void> {
    for (const key of await fileKeys()) {
      const isThere = () => haveObject(cluster.nodes, objectOf(key))
      await expect.poll(isThere, { timeout: 60_000 }).toBe(true)
    }
  }

  async function fileKeys(): Promise<readonly string[]> {
    const { kysely } = adapters.database
    const files = await kysely.selectFrom('files').select('object_key').execute()
    return files.map(({ object_key }) => object_key)
  }

  it('E03 loses nothing while a node dies and comes back, and then another dies', async () => {
    const [one, another] = cluster.nodes
    const load = await startMixedLoad()
    await load.until({ written: 20, read: 15 })
    await one.kill()
    await load.until({ written: 20, read: 15 })
    await one.start()
    await load.until({ written: 10 })
    // Until then two would be gone, as far as it knows.
    await cluster.whole()
    await another.kill()
    await load.until({ written: 20, read: 15 })
    await load.stop()
    for (const register of load.registers) {
      const { answer } = await readFrom({ service, register })
      expect(answer).not.toBe('unavailable')
    }
    await loseLocks()
    await expectSettled({ service, load, copiesOf, cluster: { beginAnew: loseLocks }, ...adapters })
    expect(load.tally().refused).toBeGreaterThan(0)
  })

  it('E02 refuses uploads in time while too few nodes are left to write, and takes them again', async () => {
    const user = await service.createUser(MIB)
    // The load removes its files, but writes none while nodes are lost.
    const kept = new Register(user, 'kept.bin')
    const early = { ...contentOf(8, 1000), method: 'PUT', chunked: false } as const
    // A cluster that has just begun can lack nodes for a while, and what it writes then, two nodes may not have.
    const keep = async (): Promise<boolean> => {
      await uploadTo({ service, register: kept }, early)
      const keys = await fileKeys()
      return keys.length === 1 && (await isOnAll(cluster.nodes, objectOf(keys[0] ?? '')))
    }
    await expect.poll(keep, { timeout: 60_000, interval: 1000 }).toBe(true)
    const load = await startMixedLoad()
    await load.until({ written: 20 })
    const lost = cluster.nodes.slice(2)
    await Promise.all(lost.map((node) => node.kill()))
    const register = new Register(user, 'late.bin')
    const late = { ...contentOf(7, 1000), method: 'PUT', chunked: false } as const
    const answer = uploadTo({ service, register }, late)
    const read = async (): Promise<string> => (await readFrom({ service, register: kept })).answer
    await load.until({ unavailable: 6 })
    expect(await answer).toBe('unavailable')
    for (let reads = 0; reads < 6; reads++) {
      // A node may deny the file, or not answer, until it has seen that the others are gone.
      await expect.poll(read, { timeout: 90_000 }).toBe('done')
    }
    await cluster.whole()
    await load.until({ written: 15, read: 10 })
    await load.stop()
    // As a client does that was told to come again; a node can take 15 s to find the others.
    await expect
      .poll(() => uploadTo({ service, register }, late), { timeout: 60_000, interval: 1000 })
      .toBe('done')
    await loseLocks()
    await expectSettled({ service, load, copiesOf, cluster: { beginAnew: loseLocks }, ...adapters })
  })
})

// Shorter than those that the service has, so that the tests are.
const deadlines = { callMs: 4_000, partMs: 6_000, completeMs: 8_000, cleanupMs: 1_000 }

/** With the deadlines that the service has. */
async function prepare(bucket: S3StoreOptions): Promise<void> {
  const store = createS3Store(bucket)
  try {
    await store.prepare(AbortSignal.timeout(30_000))
  } finally {
    await store.close()
  }
}
