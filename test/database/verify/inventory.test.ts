import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createInventory } from '../../../src/database/verify/inventory.ts'
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
        (user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at)
      SELECT CASE WHEN n % 2 = 0 THEN 'ada' ELSE 'bob' END, 'f' || n, 'v' || n, 'users/x/k' || n, 0, '',
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
    const discarded = await createInventory(core.database).discardObjects({
      keys: [...filed, orphan],
      garbageDelayMs: 0,
    })
    expect(discarded).toEqual([orphan])
  })
})
