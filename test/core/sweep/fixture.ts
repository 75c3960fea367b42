import { sql } from 'kysely'
import { objectKey, type ObjectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import { contentOf } from '../../support/http/incoming-file.ts'
import type { TestCore } from '../../support/service/test-core.ts'

/** Makes objects that no file refers to, due for removal in the order of the answer, the first since `ageMs`. */
export async function litter(core: TestCore, count: number, ageMs = 0): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = []
  for (let index = 0; index < count; index++) {
    const key = objectKey(parseUserId('gone'), createVersion())
    await core.objects.put({
      key,
      body: contentOf([Buffer.from('x')]),
      signal: AbortSignal.timeout(5_000),
    })
    keys.push(key)
  }
  await core.database.transaction(async (db) => {
    for (const [index, key] of keys.entries()) {
      const notBefore = core.clock.now - ageMs + Math.floor((index * ageMs) / count)
      await sql`INSERT INTO garbage (object_key, not_before) VALUES (${key}, ${notBefore})`.execute(
        db,
      )
    }
  })
  return keys
}

export async function countGarbage({ database }: TestCore): Promise<number> {
  return (await database.kysely.selectFrom('garbage').select('object_key').execute()).length
}

export async function countObjects({ objects }: TestCore): Promise<number> {
  const listing = objects.list({ prefix: 'users/', signal: AbortSignal.timeout(10_000) })
  return (await Array.fromAsync(listing)).length
}

/** The store, and how it is used. */
export interface WatchedStore {
  readonly objects: ObjectStore
  /** How often each key was to be removed. */
  readonly removals: ReadonlyMap<ObjectKey, number>
  /** Removals under way at a time, at most. */
  readonly mostAtOnce: () => number
}

/** `before` comes before every removal, and may make it fail. */
export function watched(
  store: ObjectStore,
  before: (key: ObjectKey) => Promise<void> = async () => undefined,
): WatchedStore {
  const removals = new Map<ObjectKey, number>()
  let [atOnce, max] = [0, 0]
  const objects = faultyStore(store, {
    async remove(object) {
      removals.set(object.key, (removals.get(object.key) ?? 0) + 1)
      max = Math.max(max, (atOnce += 1))
      try {
        await before(object.key)
        await store.remove(object)
      } finally {
        atOnce -= 1
      }
    },
  })
  return { objects, removals, mostAtOnce: () => max }
}
