import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import type { Inventory } from '../../../src/core/verify/inventory.ts'
import { objectKey, type ObjectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createInventory } from '../../../src/database/verify/inventory.ts'
import { faultyStore, onceFailing, outage } from '../../support/faults/faults.ts'
import { brokenContent } from '../../support/http/incoming-file.ts'
import { never } from '../../support/objects.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { kindsFound, verify } from '../../support/verify.ts'
import { ALICE, BOB, openBed, strayKey, type VerifyBed } from './fixture.ts'

/** A bed whose database's clock stands still. */
async function openStillBed(): Promise<VerifyBed & AsyncDisposable & { clock: TestCore['clock'] }> {
  const core = await openTestCore()
  const close = async (): Promise<void> => core[Symbol.asyncDispose]()
  const bed = await openBed(async () => ({ ...core, close }))
  return { ...bed, clock: core.clock, [Symbol.asyncDispose]: close }
}

/** The store, but for what happens right after its listing. */
function afterListing(
  { objects }: VerifyBed,
  happen: (keys: readonly ObjectKey[]) => Promise<void>,
): ObjectStore {
  return faultyStore(objects, {
    async *list(options) {
      const listed = await Array.fromAsync(objects.list(options))
      await happen(listed.map(({ key }) => key))
      yield* listed
    },
  })
}

describe('verify takes for no fault', () => {
  it('an object that was replaced and swept between its listing and its lookup', async () => {
    await using bed = await openStillBed()
    await bed.upload(ALICE, 'a', 'old')
    const objects = afterListing(bed, async () => {
      await bed.upload(ALICE, 'a', 'new')
      await bed.sweep()
      await sql`DELETE FROM uploads`.execute(bed.database.kysely)
    })
    expect(await kindsFound({ ...bed, objects }, { userId: ALICE })).toEqual([])
    expect(await kindsFound({ ...bed, objects })).toEqual([])
  })

  it.each([undefined, 1])(
    'a file that was replaced and swept between its row and its object (reading one in %s)',
    async (readOneIn) => {
      await using bed = await openStillBed()
      await bed.upload(ALICE, 'a', 'old')
      const real = createInventory(bed.database)
      const inventory: Partial<Inventory> = {
        listFiles: async (page) => {
          const files = await real.listFiles(page)
          if (files.length > 0) {
            await bed.upload(ALICE, 'a', 'new')
            await bed.sweep()
          }
          return files
        },
      }
      // Nothing is listed, so that every file is asked for.
      const objects = faultyStore(bed.objects, { async *list() {} })
      const request = { userId: ALICE, readOneIn }
      expect(await kindsFound({ ...bed, objects, inventory }, request)).toEqual([])
    },
  )
})

it('verify misses no lost object because of one that came meanwhile', async () => {
  await using bed = await openStillBed()
  const key = await bed.upload(ALICE, 'a', 'lost')
  await bed.objects.remove({ key, signal: never() })
  const real = createInventory(bed.database)
  const inventory: Partial<Inventory> = {
    findBalance: async (userId) => {
      const balance = await real.findBalance(userId)
      bed.clock.now += 1
      await bed.upload(ALICE, 'b', 'new')
      return balance
    },
  }
  expect(await kindsFound({ ...bed, inventory }, { userId: ALICE })).toEqual(['missing_object'])
})

it('verify finds a quota of no user, and leaves it to people', async () => {
  await using bed = await openStillBed()
  const db = bed.database.kysely
  await sql`PRAGMA foreign_keys = 0`.execute(db)
  await sql`DELETE FROM users WHERE id = 'bob'`.execute(db)
  const before = await bed.everything()
  for (const request of [{}, { userId: BOB }]) {
    expect((await verify(bed, { ...request, repair: true })).findings).toEqual([
      { kind: 'stray_quota', userId: BOB, repaired: false },
    ])
  }
  expect(await bed.everything()).toEqual(before)
})

describe('an object that the store denies', () => {
  const deny = async () => undefined
  const lists = { listed: {}, 'not listed': { async *list() {} } }

  it.each(Object.entries(lists))(
    'a denied object that is %s is touched by no repair',
    async (_listed, { ...list }) => {
      await using bed = await openStillBed()
      await bed.upload(ALICE, 'a', 'good')
      await bed.stray(strayKey(ALICE))
      const before = await bed.everything()
      const objects = faultyStore(bed.objects, { ...list, head: deny, open: deny })
      const { findings } = await verify({ ...bed, objects }, { repair: true, readOneIn: 1 })
      expect(findings).toMatchObject([{ kind: 'missing_object', name: 'a', repaired: false }])
      await bed.sweep()
      expect(await bed.everything()).toEqual(before)
    },
  )
})

describe('an object that can not be read', () => {
  const rotten: ObjectStore['open'] = async () => ({ body: brokenContent('ro', outage()), size: 4 })

  it('is a finding when the store answers otherwise, and its run goes on', async () => {
    await using bed = await openStillBed()
    const key = await bed.upload(ALICE, 'a', 'good')
    await bed.upload(ALICE, 'b', 'good')
    const open: ObjectStore['open'] = (object) =>
      object.key === key ? rotten(object) : bed.objects.open(object)
    const { findings } = await verify(
      { ...bed, objects: faultyStore(bed.objects, { open }) },
      { readOneIn: 1 },
    )
    expect(findings).toMatchObject([{ kind: 'unreadable_object', objectKey: key, recorded: 4 }])
  })

  it('gets a second chance', async () => {
    await using bed = await openStillBed()
    await bed.upload(ALICE, 'a', 'good')
    const open = onceFailing(rotten, (object) => bed.objects.open(object))
    const objects = faultyStore(bed.objects, { open })
    expect(await kindsFound({ ...bed, objects }, { readOneIn: 1 })).toEqual([])
  })

  it('says nothing when it is the store that is down', async () => {
    await using bed = await openStillBed()
    await bed.upload(ALICE, 'a', 'good')
    const objects = faultyStore(bed.objects, {
      open: rotten,
      check: () => Promise.reject(outage()),
    })
    await expect(verify({ ...bed, objects }, { readOneIn: 1 })).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})

describe('the end of a verify', () => {
  it('a verify stops with the reason of its signal', async () => {
    await using bed = await openStillBed()
    await bed.upload(ALICE, 'a', 'x')
    const stop = new AbortController()
    const objects = afterListing(bed, async () => stop.abort(new Error('Interrupted.')))
    const request = { signal: stop.signal, readOneIn: 1 }
    await expect(verify({ ...bed, objects }, request)).rejects.toThrow('Interrupted.')
  })

  it('a verify stops with the reason of its signal also when the store says that it failed', async () => {
    await using bed = await openStillBed()
    await bed.upload(ALICE, 'a', 'x')
    const stop = new AbortController()
    const objects = faultyStore(bed.objects, {
      async *list() {},
      head: async () => {
        stop.abort(new Error('Interrupted.'))
        throw outage()
      },
    })
    await expect(verify({ ...bed, objects }, { signal: stop.signal })).rejects.toThrow(
      'Interrupted.',
    )
  })

  it('a verify stops when the store fails, and leaves nothing behind that goes on', async () => {
    await using bed = await openStillBed()
    for (const name of ['a', 'b', 'c']) await bed.upload(ALICE, name, 'x')
    let underWay = 0
    const objects = faultyStore(bed.objects, {
      async *list() {},
      head: async () => {
        underWay += 1
        await setTimeout(underWay * 5)
        underWay -= 1
        throw outage()
      },
    })
    await expect(verify({ ...bed, objects })).rejects.toMatchObject({ code: 'unavailable' })
    expect(underWay).toBe(0)
  })
})

it('verify comes to every user, page by page', async () => {
  await using bed = await openStillBed()
  const ids = Array.from({ length: 25 }, (_, at) => parseUserId(`user-${at}`))
  for (const id of ids) {
    await bed.users.createUser(id)
    await bed.stray(strayKey(id))
  }
  const { findings, verification } = await verify(bed)
  expect(new Set(findings.map(({ userId }) => userId))).toEqual(new Set(ids))
  expect(verification).toMatchObject({ users: 27, remaining: { orphaned_object: 25 } })
})

it('verify --repair compares many orphans with the files at once', async () => {
  await using bed = await openStillBed()
  const keys = Array.from({ length: 1_201 }, () => strayKey(ALICE))
  for (const key of keys) await bed.stray(key)
  const real = createInventory(bed.database)
  const discardObjects = vi.fn<Inventory['discardObjects']>((asked) => real.discardObjects(asked))
  const inventory = { ...real, discardObjects }
  const { findings } = await verify({ ...bed, inventory }, { repair: true })
  expect(findings).toHaveLength(keys.length)
  expect(findings.filter(({ repaired }) => !repaired)).toEqual([])
  expect(discardObjects).toHaveBeenCalledTimes(1)
})

describe('verify of 20,000 files', () => {
  it('asks in pages, for each object only when one is missing, and for few at once', async () => {
    await using bed = await openStillBed()
    const keys = await fill(bed, 20_000)
    const real = createInventory(bed.database)
    const traceObjects = vi.fn<Inventory['traceObjects']>((keys) => real.traceObjects(keys))
    const listFiles = vi.fn<Inventory['listFiles']>((page) => real.listFiles(page))
    const heads = countingHeads(bed.objects)
    const ports = { ...bed, objects: heads.objects, inventory: { traceObjects, listFiles } }

    const sound = await verify(ports)
    expect(sound).toMatchObject({ findings: [], verification: { files: 20_000, objects: 20_000 } })
    expect(traceObjects.mock.calls.filter(([page]) => page.length > 0)).toHaveLength(40)
    expect(Math.max(...traceObjects.mock.calls.map(([page]) => page.length))).toBe(500)
    expect(listFiles).not.toHaveBeenCalled()
    expect(heads.calls()).toBe(0)

    await bed.objects.remove({ key: keys[12_345] ?? strayKey(BOB), signal: never() })
    expect(await kindsFound(ports)).toEqual(['missing_object'])
    expect(heads.calls()).toBe(20_000)
    expect(heads.max()).toBeLessThanOrEqual(8)
    expect(listFiles).toHaveBeenCalledTimes(41)
  })
})

/** Files of one byte, made without uploading them. */
async function fill(bed: VerifyBed, count: number): Promise<readonly ObjectKey[]> {
  const versions = Array.from({ length: count }, () => createVersion())
  const rows = versions.map((version, at) => ({
    version,
    name: `f${at}`,
    key: objectKey(ALICE, version),
  }))
  await bed.database.transaction(async (db) => {
    await sql`
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT 'alice', value ->> 'name', value ->> 'version', value ->> 'key', 1,
        'unread', 0, 'private', 0, 0 FROM json_each(${JSON.stringify(rows)})
    `.execute(db)
    await sql`UPDATE quotas SET used_bytes = ${count}, file_count = ${count} WHERE user_id = 'alice'`.execute(
      db,
    )
  })
  for (const { key } of rows) await bed.stray(key, 'x')
  return rows.map(({ key }) => key)
}

function countingHeads(store: ObjectStore) {
  let [calls, underWay, max] = [0, 0, 0]
  const head: ObjectStore['head'] = async (object) => {
    calls += 1
    underWay += 1
    max = Math.max(max, underWay)
    await Promise.resolve()
    const found = await store.head(object)
    underWay -= 1
    return found
  }
  return { objects: faultyStore(store, { head }), calls: () => calls, max: () => max }
}
