import { type Kysely, sql } from 'kysely'
import type { FoundObject, RebuildJournal, SettledObject } from '../../core/rebuild/journal.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { bigint, lockUser } from '../ledger/ledger-sql.ts'
import { INSERT_FILE } from '../ledger/rows.ts'
import type { Fragments } from '../database.ts'
import { isAfter, OBJECT_COLUMNS } from './row.ts'
import type { Tables } from '../schema.ts'

interface Settling extends Pick<Fragments, 'now' | 'forUpdate'> {
  readonly db: Kysely<Tables>
}

/** Settles a page of the journal that ends before the first object of another user. */
export async function settleObjects(
  settling: Settling,
  options: Parameters<RebuildJournal['settle']>[0],
): Promise<readonly SettledObject[]> {
  const settled = await listSettleable(settling.db, options)
  const [first] = settled
  if (first === undefined) return []
  await makeUser(settling.db, first.userId)
  await lockUser(settling, first.userId)
  const files = settled.filter(({ as }) => as === 'file')
  await addFiles(settling.db, files)
  await addGarbage(settling, {
    objects: settled.filter(({ as }) => as === 'garbage'),
    garbageDelayMs: options.garbageDelayMs,
  })
  await sql`
    UPDATE quotas SET file_count = file_count + ${files.length},
      used_bytes = used_bytes + ${bigint(files.reduce((sum, { size }) => sum + size, 0))}
    WHERE user_id = ${first.userId}
  `.execute(settling.db)
  await sql`
    UPDATE rebuild_objects SET settled = 1 WHERE version IN (${versionsOf(settled)})
  `.execute(settling.db)
  return settled
}

async function listSettleable(
  db: Kysely<Tables>,
  { after, limit }: Parameters<RebuildJournal['settle']>[0],
): Promise<readonly SettledObject[]> {
  const { rows } = await sql<FoundObject & { readonly newest: string }>`
    SELECT ${OBJECT_COLUMNS}, newest FROM (
      SELECT r.*, (
        SELECT version FROM rebuild_objects AS n
        WHERE n.user_id = r.user_id AND n.name = r.name ORDER BY version DESC LIMIT 1
      ) AS newest
      FROM rebuild_objects AS r
      WHERE ${isAfter(after)} AND settled = 0
    ) AS marked
    WHERE EXISTS (
      SELECT 1 FROM rebuild_objects AS n WHERE n.version = newest AND n.sha256 IS NOT NULL
    )
    ORDER BY user_id, name, version LIMIT ${limit}
  `.execute(db)
  return rows
    .filter(({ userId }) => userId === rows[0]?.userId)
    .map(({ newest, ...object }) =>
      Object.assign(object, { as: object.version === newest ? 'file' : 'garbage' } as const),
    )
}

async function makeUser(db: Kysely<Tables>, userId: UserId): Promise<void> {
  await sql`
    INSERT INTO users (id, status, created_at)
    SELECT user_id, 'active', MIN(began_at) FROM rebuild_objects WHERE user_id = ${userId}
    GROUP BY user_id
    ON CONFLICT (id) DO NOTHING
  `.execute(db)
  await sql`
    INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count) VALUES (${userId}, 0, 0, 0)
    ON CONFLICT (user_id) DO NOTHING
  `.execute(db)
}

/** Without ON CONFLICT: an unexpected file must fail the rebuild, so that neither version is lost. */
async function addFiles(db: Kysely<Tables>, files: readonly SettledObject[]): Promise<void> {
  if (files.length === 0) return
  await sql`
    ${INSERT_FILE}
    SELECT user_id, name, version, object_key, size, sha256, 'private', began_at, began_at
    FROM rebuild_objects WHERE version IN (${versionsOf(files)})
  `.execute(db)
}

async function addGarbage(
  { db, now }: Settling,
  garbage: { readonly objects: readonly SettledObject[]; readonly garbageDelayMs: number },
): Promise<void> {
  if (garbage.objects.length === 0) return
  await sql`
    INSERT INTO garbage (object_key, not_before)
    SELECT object_key, ${now} + ${bigint(garbage.garbageDelayMs)}
    FROM rebuild_objects WHERE version IN (${versionsOf(garbage.objects)})
  `.execute(db)
}

function versionsOf(objects: readonly SettledObject[]) {
  return sql.join(objects.map(({ version }) => version))
}
