import type { SweepLedger } from '../../core/sweep/sweep-ledger.ts'
import type { Operations } from '../operations/operation.ts'
import { findUserToPurge, purgeDeletedUsers } from './purge.ts'
import {
  forgetChanges,
  forgetUploads,
  listAbortedUploads,
  listEndedDrops,
  listExpiredUploads,
  listGarbage,
  noteAbortedRemovals,
  noteGarbageRemovals,
} from './sweep.ts'
import { randomBytes } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../schema.ts'
import { type File, NEVER } from '../../core/files/file.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { safeNow } from '../ledger/safe-now.ts'
import { applyChanges } from '../ledger/apply-changes.ts'
import { type Clock, except, type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'

/** Without `confirm`, which has its row in `resumable/`. */
export const SWEEP_OPERATIONS = {
  listExpiredUploads: { through: 'readInOrder', run: listExpiredUploads, effect: 'reads' },
  listAbortedUploads: { through: 'readInOrder', run: listAbortedUploads, effect: 'reads' },
  noteAbortedRemovals: { through: 'transaction', run: noteAbortedRemovals, effect: 'frees' },
  listEndedDrops: { through: 'readInOrder', run: listEndedDrops, effect: 'reads' },
  listUsersWithExpired: { through: 'readInOrder', run: listUsersWithExpired, effect: 'reads' },
  expireFiles: {
    through: 'change',
    run: expireFiles,
    effect: ({ limit }) => ({ kind: 'ends', rows: limit }),
  },
  forgetUploads: { through: 'query', run: forgetUploads, effect: 'frees' },
  forgetChanges: { through: 'query', run: forgetChanges, effect: 'frees' },
  listGarbage: { through: 'readInOrder', run: listGarbage, effect: 'reads' },
  noteGarbageRemovals: { through: 'transaction', run: noteGarbageRemovals, effect: 'frees' },
  findUserToPurge: { through: 'query', run: findUserToPurge, effect: 'reads' },
  purgeDeletedUsers: { through: 'transaction', run: purgeDeletedUsers, effect: 'frees' },
  // Asks the writer thread, and tests whether it can write after it could not.
  check: {
    bind:
      ({ database }) =>
      () =>
        check(database),
    effect: 'frees',
  },
} as const satisfies Operations<Omit<SweepLedger, 'confirm'>>

/** A full disk still answers reads, so a write must succeed first. */
async function check(database: Database): Promise<number> {
  const { now } = database
  await database.proveWritable((db) => writeProbe(db, now))
  const { rows } = await database.query((db) =>
    sql<{ now: number }>`SELECT ${now} AS now`.execute(db),
  )
  return rows[0]?.now ?? Number.NaN
}

async function writeProbe(db: Kysely<Tables>, now: RawBuilder<number>): Promise<void> {
  // SQLite does not write unchanged pages.
  const probe = randomBytes(PROBE_BYTES / 2).toString('hex')
  await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES ('write_probe', ${probe}, ${now})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until
  `.execute(db)
}

/** About the size of a commit; a full disk may still have room for one page. */
const PROBE_BYTES = 32 * 1024

/** The first condition is that of the indexes. */
function isOver(clock: Clock) {
  return sql<boolean>`(files.expires_at < ${sql.lit(NEVER)} AND files.expires_at <= ${safeNow(clock)})`
}

async function listUsersWithExpired(
  tx: LedgerTx,
  { except: userIds, limit }: Parameters<SweepLedger['listUsersWithExpired']>[0],
): Promise<readonly UserId[]> {
  const { rows } = await sql<{ readonly user_id: UserId }>`
    SELECT DISTINCT user_id FROM (
      SELECT user_id FROM files WHERE ${isOver(tx)} ${except(userIds)} AND EXISTS (
        SELECT 1 FROM users WHERE users.id = files.user_id AND status <> 'deleted'
      ) ORDER BY expires_at LIMIT ${limit}
    ) AS expired
  `.execute(tx.db)
  return rows.map((row) => row.user_id)
}

async function expireFiles(
  tx: LedgerTx,
  { userId, limit }: Parameters<SweepLedger['expireFiles']>[0],
): Promise<number> {
  await lockUser(tx, userId)
  const { rows } = await sql<File & { readonly now: number }>`
    SELECT ${FILE_COLUMNS}, ${tx.now} AS now FROM files JOIN users ON users.id = files.user_id AND status <> 'deleted'
    WHERE files.user_id = ${userId} AND ${isOver(tx)} ORDER BY files.expires_at LIMIT ${limit}
  `.execute(tx.db)
  const [first] = rows
  if (first === undefined) return 0
  const { now } = first
  const changes = rows.map(({ now: _now, ...old }) => ({ type: 'expired', old }) as const)
  await applyChanges(tx, { userId, userCreatedAt: 0, changes, now, by: 'sweep' })
  return rows.length
}
