import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { versionOf } from '../../../src/core/objects/object-key.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { createInventory } from '../../../src/database/verify/inventory.ts'
import { openAccount } from '../../core/ledger/fixture.ts'
import { part, resumablesOf, tailPiece } from '../../core/ledger/resumable/fixture.ts'
import { freshKey } from '../../support/objects.ts'
import { openTestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'

/** Files in a page of those in which keys are looked for. */
const PAGE = 50_000

/** Two pages, and the first of a third. */
const FILES = 2 * PAGE + 1

describe('what is discarded', () => {
  it('is no key that a file of another version has, wherever it stands among many', async () => {
    await using core = await openTestCore()
    for (const id of ['ada', 'bob']) await createTestUser(core, id)
    const db = core.database.kysely
    await sql`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${FILES})
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT CASE WHEN n % 2 = 0 THEN 'ada' ELSE 'bob' END, 'f' || n, 'v' || n, 'users/x/k' || n, 0, '', 0,
        'private', 0, 0
      FROM numbers
    `.execute(db)
    // The first and the last of each page.
    const places = [0, PAGE - 1, PAGE, 2 * PAGE - 1, 2 * PAGE]
    const filed = places.map(() => freshKey(parseUserId('ada')))
    for (const [index, place] of places.entries()) {
      await sql`
        UPDATE files SET object_key = ${filed[index]} WHERE (user_id, name) =
          (SELECT user_id, name FROM files ORDER BY user_id, name LIMIT 1 OFFSET ${place})
      `.execute(db)
    }
    const orphan = freshKey(parseUserId('ada'))
    const discarded = await createInventory(core.database).discardObjects([...filed, orphan])
    expect(discarded).toEqual([orphan])
  })

  it('is no key that a past version has, whatever version it has itself', async () => {
    await using core = await openTestCore()
    const userId = await createTestUser(core, 'ada')
    const [own, other] = [freshKey(userId), freshKey(userId)]
    for (const [version, key] of [
      [versionOf(own), own],
      ['v', other],
    ]) {
      await sql`
        INSERT INTO history (user_id, name, version, object_key, size, sha256, crc32, visibility,
          created_at, updated_at, ended_at, ended_as)
        VALUES (${userId}, 'a', ${version}, ${key}, 0, '', 0, 'private', 0, 0, 0, 'deleted')
      `.execute(core.database.kysely)
    }
    const orphan = freshKey(userId)
    const keys = [own, other, orphan]
    const inventory = createInventory(core.database)
    expect(await inventory.discardObjects(keys)).toEqual([orphan])
  })
})

describe('what a resumable upload holds', () => {
  it('is accounted for: its reservation, its tails, and those it has left', async () => {
    await using core = await openTestCore()
    const { database } = core
    const ledger = createLedger(database, { baseCapacity: 1000 })
    const account = await openAccount({
      ledger,
      users: createUserStore(database, { baseCapacity: 0 }),
    })
    const { userId } = account
    const uploads = resumablesOf(ledger, account)
    const upload = await uploads.create('a', 40)
    const [left, live, running] = [uploads.tailKey(), uploads.tailKey(), uploads.tailKey()]
    const { upload: one } = await uploads.hold(upload, { tailKey: left })
    const first = [tailPiece(0, { size: 3, key: left })]
    await uploads.record(one, { offset: 3, replacedFrom: 0, pieces: first })
    const { upload: two } = await uploads.hold(upload, { offset: 3, tailKey: live })
    const next = [part(0), tailPiece(8, { size: 2, key: live })]
    await uploads.record(two, { offset: 10, replacedFrom: 0, pieces: next })
    await uploads.hold(upload, { offset: 10, tailKey: running })

    const inventory = createInventory(database, { times: { garbageDelayMs: 0 } })
    const balance = await inventory.findBalance(userId)
    expect(balance?.recorded).toMatchObject({ reserved_bytes: 40, garbage_bytes: 3 + 4096 })
    expect(balance?.recorded).toEqual(balance?.counted)
    await inventory.recount(userId)
    expect((await inventory.findBalance(userId))?.recorded).toEqual(balance?.recorded)
    const keys = [left, live, running, upload.objectKey]
    const traced = await inventory.traceObjects([...keys, freshKey(userId)])
    expect(traced.map(({ objectKey }) => objectKey).toSorted()).toEqual(keys.toSorted())
    // An orphan would be garbage at once. Uploads are found by their version and by their key.
    const named = freshKey(userId)
    await sql`UPDATE uploads SET object_key = ${named}`.execute(database.kysely)
    for (const asked of [[live, running], [upload.objectKey], [named]]) {
      await inventory.discardObjects(asked)
    }
    expect(await ledger.listGarbage({ after: undefined, limit: 10 })).toEqual([])
  })
})

describe('a history whose figures are counted again', () => {
  it('is trimmed to its allowance by the sweep, as the change that was not counted had told it', async () => {
    await using core = await openTestCore()
    const { database } = core
    const options = { baseCapacity: 20_000, historyLifetimeMs: 60_000, historyShare: 50 }
    const ledger = createLedger(database, options)
    const account = await openAccount({ ledger, users: createUserStore(database, options) })
    const { userId } = account
    for (const size of [1000, 1001, 1002, 1003]) await account.put('a', size)
    await sql`UPDATE quotas SET history_bytes = 0, history_excess = 0`.execute(database.kysely)
    const listed = () => ledger.listUsersToTrim({ except: [], limit: 10 })
    expect(await listed()).toEqual([])
    await createInventory(database).recount(userId)
    expect(await listed()).toEqual([userId])
    expect(await ledger.trimHistory({ userId, limit: 10 })).toBe(2)
    expect(await listed()).toEqual([])
    expect(await account.past()).toHaveLength(1)
    // One that fits is looked at once.
    await createInventory(database).recount(userId)
    expect(await ledger.trimHistory({ userId, limit: 10 })).toBe(0)
    expect(await listed()).toEqual([])
  })
})

describe('a quota row that is made again', () => {
  it('I14 goes on counting the changes of its user', async () => {
    await using core = await openTestCore()
    const { database } = core
    const options = { baseCapacity: 1000 }
    const ledger = createLedger(database, options)
    const account = await openAccount({ ledger, users: createUserStore(database, options) })
    const { userId } = account
    await account.put('a', 1)
    await account.remove('a')
    await sql`DELETE FROM garbage`.execute(database.kysely)
    await sql`DELETE FROM quotas WHERE user_id = ${userId}`.execute(database.kysely)
    await createInventory(database).recount(userId)
    await account.put('b', 1)
    const read = await ledger.readChanges({ ...account, after: 0, limit: 10 })
    const [, second, third] = read?.changes ?? []
    expect(third).toMatchObject({ sequence: 3, type: 'file.created', previousAt: second?.at })
  })
})
