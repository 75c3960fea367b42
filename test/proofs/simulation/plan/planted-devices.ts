import { sql } from 'kysely'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { Variant } from '../world/world.ts'

/** Bugs in the shares of devices. The checker must find them all. */
export const PLANTED_DEVICE_BUGS: Readonly<Record<string, Variant>> = {
  'still counts for a device what another one overwrites': {
    sharedLedger: ({ ledger, database: { kysely } }) => ({
      async commit(upload) {
        const before = kysely.selectFrom('device_usage').selectAll()
        const rows = await before.where('user_id', '=', upload.userId).execute()
        const committed = await ledger.commit(upload)
        const others = rows.filter((row) => row.device_id !== committed.file.deviceId)
        for (const row of others) {
          const counted = kysely.insertInto('device_usage').values(row)
          await counted.onConflict((on) => on.doUpdateSet(row)).execute()
        }
        return committed
      },
    }),
  },

  'checks no share when it commits': {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        const { userId } = upload
        const restore = await replaceShares(database, userId)
        try {
          return await ledger.commit(upload)
        } finally {
          await restore()
        }
      },
    }),
  },

  'evicts files of other devices for a share': {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        if (upload.evict === undefined) return ledger.commit(upload)
        const restore = await takeOver(database, upload)
        try {
          return await ledger.commit(upload)
        } finally {
          await restore()
        }
      },
    }),
  },

  'still counts what uploads that have ended had reserved of a share': {
    sharedLedger: ({ ledger, database: { kysely } }) => ({
      async begin(upload) {
        const ended = kysely.selectFrom('uploads').where('state', '<>', 'pending')
        const rows = await ended.select(['version', 'state', 'settled_at', 'lease_until']).execute()
        const write = (row: (typeof rows)[number]) =>
          kysely.updateTable('uploads').set(row).where('version', '=', row.version).execute()
        const pending = { state: 'pending', settled_at: null, lease_until: 0 } as const
        for (const row of rows) await write({ ...row, ...pending })
        try {
          await ledger.begin(upload)
        } finally {
          for (const row of rows) await write(row)
        }
      },
    }),
  },

  'forgets the device of what it restores': {
    sharedLedger: ({ ledger, database }) => ({
      async restoreVersion(request) {
        const restored = await ledger.restoreVersion(request)
        await sql`
          UPDATE files SET device_id = NULL WHERE version = ${request.version}
        `.execute(database.kysely)
        await recount(database)
        return restored
      },
    }),
  },
}

/** Gives all devices the whole account; returns how to take that back. */
async function replaceShares({ kysely }: Database, userId: UserId): Promise<() => Promise<void>> {
  const shares = kysely.selectFrom('grants').select(['reference', 'share'])
  const rows = await shares.where('user_id', '=', userId).where('source', '=', 'device').execute()
  const write = async (share: string | null, reference: string): Promise<void> => {
    await sql`
      UPDATE grants SET share = ${share}
      WHERE user_id = ${userId} AND source = 'device' AND reference = ${reference}
    `.execute(kysely)
  }
  for (const { reference } of rows) await write('all', reference)
  return async () => {
    for (const { reference, share } of rows) await write(share, reference)
  }
}

/** Has all files be the device's whose upload it is, besides the one that it replaces; returns how to take that back. */
async function takeOver(
  database: Database,
  { userId, version }: { readonly userId: UserId; readonly version: string },
): Promise<() => Promise<void>> {
  const { kysely } = database
  const files = kysely.selectFrom('files').select(['version', 'device_id'])
  const rows = await files.where('user_id', '=', userId).execute()
  await sql`
    UPDATE files SET device_id = uploads.device_id FROM uploads
    WHERE uploads.version = ${version} AND uploads.device_id IS NOT NULL
      AND files.user_id = uploads.user_id AND files.name <> uploads.name
  `.execute(kysely)
  return async () => {
    for (const { version: of, device_id: deviceId } of rows) {
      await sql`UPDATE files SET device_id = ${deviceId} WHERE version = ${of}`.execute(kysely)
    }
    await recount(database)
  }
}

async function recount({ kysely }: Database): Promise<void> {
  await sql`DELETE FROM device_usage`.execute(kysely)
  await sql`
    INSERT INTO device_usage (user_id, device_id, used_bytes, file_count)
    SELECT user_id, device_id, SUM(size + metadata_bytes), COUNT(*) FROM files
    WHERE device_id IS NOT NULL GROUP BY user_id, device_id
  `.execute(kysely)
}
