import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { createLedger } from '../../src/database/ledger.ts'
import type { LedgerOptions } from '../../src/database/operations/session.ts'
import { createUserStore } from '../../src/database/users/user-store.ts'
import {
  type Audit,
  BASE_CAPACITY,
  type DeviceFigures,
  type LedgerHarness,
  LONG_MS,
  type PastFigures,
} from '../core/ledger/fixture.ts'

interface HarnessOptions {
  readonly database: Database
  /** The same database, opened a second time. */
  readonly twin: Database
  readonly clock: Pick<LedgerHarness, 'now' | 'advance'>
  /** Runs after both are closed. */
  readonly cleanUp: () => Promise<void>
  /** What the ledger is told besides the base capacity. */
  readonly ledgerOptions?: Partial<LedgerOptions> | undefined
}

/** With those that a suite gives. No garbage is due, but what a deleted user has left is at once. */
export function harnessOptions(own: Partial<LedgerOptions> = {}): LedgerOptions {
  const times = {
    leaseMs: LONG_MS,
    uploadLifetimeMs: 24 * LONG_MS,
    garbageDelayMs: LONG_MS,
    purgeDelayMs: 0,
    ...own.times,
  }
  return { baseCapacity: BASE_CAPACITY, queuesWebhooks: true, ...own, times }
}

/** The contract suites' view of a migrated database. */
export function createHarness(harness: HarnessOptions): LedgerHarness {
  const { database, twin, clock, cleanUp, ledgerOptions } = harness
  const options = harnessOptions(ledgerOptions)
  return {
    ledger: createLedger(database, options),
    other: createLedger(twin, options),
    with: ({ limits, times, ...own }) => {
      const merged = {
        ...options,
        ...own,
        limits: { ...options.limits, ...limits },
        times: { ...options.times, ...times },
      }
      return { ledger: createLedger(database, merged), other: createLedger(twin, merged) }
    },
    users: createUserStore(database, options),
    ...clock,
    audit: async (userId) => {
      const { rows } = await sql<Audit>`SELECT
        (SELECT CAST(COALESCE(SUM(size + metadata_bytes), 0) AS BIGINT) FROM files WHERE user_id = ${userId}) AS used,
        (SELECT COUNT(*) FROM files WHERE user_id = ${userId}) AS "fileCount",
        (SELECT CAST(COALESCE(SUM(reserved_bytes), 0) AS BIGINT) FROM uploads
          WHERE user_id = ${userId} AND state = 'pending') AS reserved`.execute(database.kysely)
      const [audit] = rows
      if (audit === undefined) throw new Error('A SELECT without FROM has one row.')
      return audit
    },
    devices: async (userId) => {
      const recorded = await sql<DeviceFigures>`
        SELECT device_id AS "deviceId", used_bytes AS used, file_count AS files FROM device_usage
        WHERE user_id = ${userId} ORDER BY device_id
      `.execute(database.kysely)
      const counted = await sql<DeviceFigures>`
        SELECT device_id AS "deviceId", CAST(SUM(size + metadata_bytes) AS BIGINT) AS used, COUNT(*) AS files
        FROM files WHERE user_id = ${userId} AND device_id IS NOT NULL
        GROUP BY device_id ORDER BY device_id
      `.execute(database.kysely)
      return { recorded: recorded.rows, counted: counted.rows }
    },
    setShare: async (userId, deviceId, share) => {
      await sql`
        UPDATE grants SET share = ${share}
        WHERE user_id = ${userId} AND source = 'device' AND reference = ${deviceId}
      `.execute(database.kysely)
    },
    runningUploads: async (userId) => {
      const { rows } = await sql<{ readonly running: number }>`
        SELECT COUNT(*) AS running FROM uploads
        WHERE user_id = ${userId} AND state = 'pending' AND lease_until > ${database.now}
          AND version NOT IN (SELECT version FROM resumable_uploads WHERE holder_until <= ${database.now})
      `.execute(database.kysely)
      return rows[0]?.running ?? 0
    },
    garbageBytes: async (userId) => {
      const { rows } = await sql<{ readonly recorded: number; readonly counted: number }>`
        SELECT garbage_bytes AS recorded, (
          SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM (
            SELECT bytes FROM garbage WHERE user_id = ${userId}
            UNION ALL SELECT garbage_bytes FROM uploads WHERE user_id = ${userId}
          ) AS counted
        ) AS counted
        FROM quotas WHERE user_id = ${userId}`.execute(database.kysely)
      const [bytes] = rows
      if (bytes === undefined) throw new Error('There is no such user.')
      return bytes
    },
    history: async (userId) => {
      const { rows } = await sql<PastFigures>`
        SELECT history_bytes AS bytes, history_count AS versions, history_excess AS excess,
          history_protected AS "protectedBytes",
          (SELECT CAST(COALESCE(SUM(size + 4096), 0) AS BIGINT) FROM history
            WHERE history.user_id = quotas.user_id) AS "countedBytes",
          (SELECT COUNT(*) FROM history WHERE history.user_id = quotas.user_id)
            AS "countedVersions",
          (SELECT CAST(COALESCE(SUM(size + 4096), 0) AS BIGINT) FROM history
            WHERE history.user_id = quotas.user_id AND is_protected = 1) AS "countedProtected"
        FROM quotas WHERE user_id = ${userId}`.execute(database.kysely)
      const [figures] = rows
      if (figures === undefined) throw new Error('There is no such user.')
      return figures
    },
    keys: async (userId) => {
      const db = database.kysely
      const files = await db
        .selectFrom('files')
        .select('object_key')
        .where('user_id', '=', userId)
        .execute()
      const garbage = await sql<{ readonly key: string; readonly notBefore: number }>`
        SELECT object_key AS key, not_before AS "notBefore" FROM garbage
        WHERE object_key LIKE ${`users/${userId}/%`} ORDER BY not_before, object_key`.execute(db)
      return { referenced: files.map((file) => file.object_key), garbage: garbage.rows }
    },
    journal: async (userId) => {
      const query = database.kysely.selectFrom('uploads').select('version')
      const rows = await query.where('user_id', '=', userId).orderBy('version').execute()
      return rows.map(({ version }) => version)
    },
    changeRows: async (userId) => {
      const rows = database.kysely.selectFrom('changes').where('user_id', '=', userId)
      return (await rows.select('sequence').execute()).length
    },
    countChanges: async (userId, count) => {
      const quota = database.kysely.updateTable('quotas').where('user_id', '=', userId)
      await quota.set({ change_count: count }).execute()
    },
    forgetState: async (userId) => {
      const quota = database.kysely.updateTable('quotas').where('user_id', '=', userId)
      await quota.set({ capacity_state: null }).execute()
    },
    driftHistory: async (userId, bytes) => {
      const quota = database.kysely.updateTable('quotas').where('user_id', '=', userId)
      await quota.set({ history_bytes: bytes }).execute()
    },
    addProtected: async (userId, count) => {
      await sql`
        WITH RECURSIVE numbers (n) AS (
          SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(${count} AS BIGINT)
        ), named AS (
          SELECT substr(CAST(100000 + n AS TEXT), 2) AS name FROM numbers
        )
        INSERT INTO history (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at,
          ended_at, ended_as, ended_by, is_protected)
        SELECT ${userId}, name, ${userId} || name, ${userId} || name, 0, 'x', 0, 'private', 1, 1,
          ${database.now}, 'deleted', 'thief', 1
        FROM named
      `.execute(database.kysely)
      await sql`
        UPDATE quotas SET history_count = history_count + ${count},
          history_bytes = history_bytes + 4096 * CAST(${count} AS BIGINT),
          history_protected = history_protected + 4096 * CAST(${count} AS BIGINT)
        WHERE user_id = ${userId}
      `.execute(database.kysely)
    },
    addFiles: async (userId, { prefix, count, since }) => {
      await sql`
        WITH RECURSIVE numbers (n) AS (
          SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(${count} AS BIGINT)
        ), named AS (
          SELECT ${prefix} || substr(CAST(100000 + n AS TEXT), 2) AS name,
            CAST(${since} AS BIGINT) + n AS at FROM numbers
        )
        INSERT INTO files (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
        SELECT ${userId}, name, ${userId} || name, ${userId} || name, 1, 'x', 0, 'private', at, at FROM named
      `.execute(database.kysely)
      await sql`
        UPDATE quotas SET used_bytes = used_bytes + ${count}, file_count = file_count + ${count}
        WHERE user_id = ${userId}
      `.execute(database.kysely)
    },
    keepFiles: async (userId, prefix) => {
      await sql`
        UPDATE files SET is_kept = 1 WHERE user_id = ${userId} AND name LIKE ${`${prefix}%`}
      `.execute(database.kysely)
    },
    expireFiles: async (userId, prefix) => {
      await sql`
        UPDATE files SET expires_at = 1 WHERE user_id = ${userId} AND name LIKE ${`${prefix}%`}
      `.execute(database.kysely)
    },
    close: async () => {
      await Promise.all([database.close(), twin.close()])
      await cleanUp()
    },
  }
}
