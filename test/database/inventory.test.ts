import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { parseUserId } from '../../src/core/user-id.ts'
import { createInventory } from '../../src/database/inventory.ts'
import { freshKey } from '../support/objects.ts'
import { openTestCore } from '../support/test-core.ts'
import { createTestUser } from '../support/test-repository.ts'

/** More than two pages of those in which keys are looked for. */
const FILES = 100_001

describe('what is discarded', () => {
  it('is no key that a file of another version has, wherever it stands among many', async () => {
    await using core = await openTestCore()
    for (const id of ['ada', 'bob']) await createTestUser(core, id)
    const db = core.database.kysely
    await sql`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${FILES})
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at)
      SELECT CASE WHEN n % 2 = 0 THEN 'ada' ELSE 'bob' END, 'f' || n, 'v' || n, 'users/x/k' || n, 0, '',
        'private', 0, 0
      FROM numbers
    `.execute(db)
    const [first, middle, last, orphan] = Array.from({ length: 4 }, () =>
      freshKey(parseUserId('ada')),
    )
    if (first === undefined || middle === undefined || last === undefined || orphan === undefined) {
      throw new TypeError('There are four keys.')
    }
    const places = [
      [first, sql`user_id = 'ada' AND name = (SELECT MIN(name) FROM files WHERE user_id = 'ada')`],
      [middle, sql`user_id = 'bob' AND name = (SELECT MIN(name) FROM files WHERE user_id = 'bob')`],
      [last, sql`user_id = 'bob' AND name = (SELECT MAX(name) FROM files WHERE user_id = 'bob')`],
    ] as const
    for (const [key, place] of places) {
      await sql`UPDATE files SET object_key = ${key} WHERE ${place}`.execute(db)
    }
    const keys = [first, middle, last, orphan]
    const discarded = await createInventory(core.database).discardObjects({
      keys,
      garbageDelayMs: 0,
    })
    expect(discarded).toEqual([orphan])
  })
})
