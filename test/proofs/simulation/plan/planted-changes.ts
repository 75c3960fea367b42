import { sql } from 'kysely'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { QuotaRow } from '../../../../src/database/schema.ts'
import type { Variant } from '../world/world.ts'

/** Bugs that the recording of changes could have. The checker must find them all. */
export const PLANTED_FEED_BUGS: Readonly<Record<string, Variant>> = {
  'commits a file and records no change': {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        const end = await endOf(database, upload.userId)
        const committed = await ledger.commit(upload)
        await moveBack(database, end)
        return committed
      },
    }),
  },

  'records the change of a commit that it refuses': {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        try {
          return await ledger.commit(upload)
        } catch (error) {
          await recordUpload(database, upload)
          throw error
        }
      },
    }),
  },

  'records the change of an upload that it aborts': {
    sharedLedger: ({ ledger, database }) => ({
      async abort(upload) {
        await recordUpload(database, upload)
        return ledger.abort(upload)
      },
    }),
  },

  'does not notice what a deletion makes of the capacity': {
    sharedLedger: ({ ledger, database }) => ({
      async deleteFile(file) {
        const end = await endOf(database, file.userId)
        const version = await ledger.deleteFile(file)
        const now = await endOf(database, file.userId)
        if (end !== undefined && now !== undefined) {
          await moveBack(database, { ...now, change_count: end.change_count + 1 })
        }
        return version
      },
    }),
  },

  'records no deletion of the file that a rename replaces': {
    sharedLedger: ({ ledger, database }) => ({
      async updateFile(change) {
        const { userId } = change
        const end = await endOf(database, userId)
        const file = await ledger.updateFile(change)
        await sql`
          DELETE FROM changes
          WHERE user_id = ${userId} AND sequence > ${end?.change_count} AND type = 'file.deleted'
        `.execute(database.kysely)
        return file
      },
    }),
  },
}

type FeedEnd = Pick<
  QuotaRow,
  'user_id' | 'change_count' | 'changed_at' | 'previously_changed_at' | 'capacity_state'
>

async function endOf({ kysely }: Database, userId: UserId): Promise<FeedEnd | undefined> {
  const { rows } = await sql<FeedEnd>`
    SELECT user_id, change_count, changed_at, previously_changed_at, capacity_state
    FROM quotas WHERE user_id = ${userId}
  `.execute(kysely)
  return rows[0]
}

/** As if nothing had been recorded since. */
async function moveBack({ kysely }: Database, end: FeedEnd | undefined): Promise<void> {
  if (end === undefined) return
  await sql`
    DELETE FROM changes WHERE user_id = ${end.user_id} AND sequence > ${end.change_count}
  `.execute(kysely)
  await sql`
    UPDATE quotas
    SET change_count = ${end.change_count}, changed_at = ${end.changed_at},
        previously_changed_at = ${end.previously_changed_at}, capacity_state = ${end.capacity_state}
    WHERE user_id = ${end.user_id}
  `.execute(kysely)
}

interface Recorded {
  readonly userId: UserId
  readonly version: Version
}

async function recordUpload({ kysely, now }: Database, upload: Recorded): Promise<void> {
  const { numAffectedRows } = await sql`
    INSERT INTO changes
      (user_id, sequence, type, at, previous_at, name, version, size, sha256, visibility)
    SELECT user_id, change_count + 1, 'file.created', ${now}, changed_at, name, version, 1, '',
      'private'
    FROM uploads JOIN quotas USING (user_id) WHERE version = ${upload.version}
  `.execute(kysely)
  if (numAffectedRows === 0n) return
  await sql`
    UPDATE quotas SET change_count = change_count + 1, changed_at = ${now}
    WHERE user_id = ${upload.userId}
  `.execute(kysely)
}
