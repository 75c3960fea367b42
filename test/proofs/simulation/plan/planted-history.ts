import { sql } from 'kysely'
import type { ObjectKey } from '../../../../src/core/objects/object-key.ts'
import { INSERT_PAST } from '../../../../src/database/ledger/rows.ts'
import { ledgerWith, type Variant } from '../world/world.ts'
import { withoutCapacity } from './without-capacity.ts'

/** Bugs that a history could have. The checker must find them all. */
export const PLANTED_HISTORY_BUGS: Readonly<Record<string, Variant>> = {
  'restores a version and keeps it past': {
    sharedLedger: ({ ledger, database }) => ({
      async restoreVersion(request) {
        const restored = await ledger.restoreVersion(request)
        await sql`
          ${INSERT_PAST}
          SELECT user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at,
            media_type, metadata, device_id, ${database.now}, 'deleted', expires_at, stored_by, NULL, 0
          FROM files WHERE version = ${request.version}
        `.execute(database.kysely)
        return restored
      },
    }),
  },

  'restores what does not fit': {
    sharedLedger: (world) => ({
      restoreVersion: (request) =>
        withoutCapacity(world, request.userId, (ledger) => ledger.restoreVersion(request)),
    }),
  },

  'refuses a restore that fits': {
    sharedLedger: (world) => {
      const strict = ledgerWith(world, { maxFiles: 1 })
      return { restoreVersion: (request) => strict.restoreVersion(request) }
    },
  },

  'tells no one of a restore': {
    sharedLedger: ({ ledger, database }) => ({
      async restoreVersion(request) {
        const restored = await ledger.restoreVersion(request)
        await sql`
          DELETE FROM changes WHERE user_id = ${request.userId} AND type = 'file.restored'
        `.execute(database.kysely)
        return restored
      },
    }),
  },

  'removes the objects of past versions before they leave the history': {
    ledger: ({ ledger, objects }, { database }) => ({
      async trimHistory(trim) {
        const { rows } = await sql<{ readonly object_key: ObjectKey }>`
          SELECT object_key FROM history WHERE user_id = ${trim.userId}
        `.execute(database.kysely)
        const { signal } = new AbortController()
        for (const { object_key: key } of rows) await objects.remove({ key, signal })
        return ledger.trimHistory(trim)
      },
    }),
  },
}
