import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { createSweeper } from '../../../src/core/sweep/sweeper.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { readUsage } from '../../support/read-usage.ts'

const postgres = inject('postgres')

/** A lock is waited for less long than that. */
const TIMEOUT_MS = 1_000

describe.skipIf(postgres === undefined)('a sweep on PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  let ledger: Ledger

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url, timeoutMs: TIMEOUT_MS })
    ledger = createLedger(database, { baseCapacity: 1_000, times: { leaseMs: 0 } })
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  async function abandonUpload(id: string): Promise<UserId> {
    const { user } = await createUserStore(database, { baseCapacity: 0 }).createUser(
      parseUserId(id),
    )
    const [userId, version] = [user.userId, createVersion()]
    const key = { version, objectKey: objectKey(userId, version), name: parseFileName('a') }
    await ledger.begin({ userId, userCreatedAt: user.createdAt, ...key, bytes: 5 })
    return userId
  }

  it('settles what others left while another session holds the row of one user', async () => {
    await abandonUpload('ada')
    const bob = await abandonUpload('bob')
    const holder = new Client({ connectionString: own.url })
    await holder.connect()
    await holder.query(`BEGIN; SELECT * FROM quotas WHERE user_id = 'ada' FOR UPDATE`)
    const sweeper = createSweeper({ ledger, objects: createMemoryStore() })
    const signal = AbortSignal.timeout(20_000)
    await expect(sweeper.sweep({ signal })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ada') as string,
    })
    expect(await readUsage(ledger, bob)).toMatchObject({ reserved: 0 })
    await holder.end()
    expect(await sweeper.sweep({ signal })).toMatchObject({ expiredUploads: 1, end: 'complete' })
  })
})
