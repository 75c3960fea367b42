import { sql } from 'kysely'
import { isAppError } from '../../../../src/core/errors.ts'
import { parseFileNamePrefix } from '../../../../src/core/files/file-name.ts'
import { NEVER } from '../../../../src/core/files/file.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { Variant } from '../world/world.ts'

/** Bugs that evictions and expiries could have. The checker must find them all. */
export const PLANTED_RETENTION_BUGS: Readonly<Record<string, Variant>> = {
  'evicts the newest files first': evictingFrom((file) => {
    return { ...file, updated_at: FAR_MS - file.updated_at }
  }),

  'evicts files that are kept': evictingFrom((file) => ({ ...file, is_kept: 0 })),

  'evicts more than it needs': reserving(() => 100),

  'evicts too little for what others have reserved': reserving((byOthers) => -byOthers),

  'forgets the prefix of what it evicts': {
    sharedLedger: ({ ledger }) => ({
      commit: (upload) =>
        ledger.commit({ ...upload, evict: upload.evict && parseFileNamePrefix('') }),
    }),
  },

  'refuses an upload that can make room': {
    sharedLedger: ({ ledger }) => ({
      begin: ({ evict: _evict, ...upload }) => ledger.begin(upload),
    }),
  },

  'evicts nothing of what it has promised to': {
    sharedLedger: ({ ledger }) => ({
      commit: ({ evict: _evict, ...upload }) => ledger.commit(upload),
    }),
  },

  'tells no one of an eviction': {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        const committed = await ledger.commit(upload)
        await sql`DELETE FROM changes WHERE type = 'file.evicted'`.execute(database.kysely)
        return committed
      },
    }),
  },

  'finds files that have expired': {
    sharedLedger: ({ ledger, database }) => ({
      findFile: (asked) =>
        withFiles(database, {
          alter: (file) => ({ ...file, expires_at: NEVER }),
          work: () => ledger.findFile(asked),
        }),
    }),
  },

  'sweeps files before they expire': {
    sharedLedger: ({ ledger, database }) => {
      const alter = (file: Altered): Altered => {
        const { expires_at: at } = file
        return { ...file, expires_at: at === NEVER ? at : at - LATER_MS }
      }
      return {
        listUsersWithExpired: (page) =>
          withFiles(database, { alter, work: () => ledger.listUsersWithExpired(page) }),
        expireFiles: (page) => withFiles(database, { alter, work: () => ledger.expireFiles(page) }),
      }
    },
  },

  'never sweeps files that have expired': {
    sharedLedger: () => ({ listUsersWithExpired: () => Promise.resolve([]) }),
  },

  'keeps the expiry of what an upload replaces': {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        const { rows } = await sql<{ readonly name: string; readonly expires_at: number }>`
          SELECT name, expires_at FROM files WHERE user_id = ${upload.userId}
        `.execute(database.kysely)
        const committed = await ledger.commit(upload)
        const old = rows.find(({ name }) => name === committed.file.name)
        if (old === undefined) return committed
        await sql`
          UPDATE files SET expires_at = ${old.expires_at} WHERE version = ${upload.version}
        `.execute(database.kysely)
        return committed
      },
    }),
  },
}

/** Later than any time in a run. */
const FAR_MS = 2 ** 45
const LATER_MS = 10 * 60_000

/** Has an upload that evicts find other files than there are, besides the one that it replaces. */
function evictingFrom(alter: (file: Altered) => Altered): Variant {
  return {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        if (upload.evict === undefined) return ledger.commit(upload)
        const { rows } = await sql<{ readonly name: string }>`
          SELECT name FROM uploads WHERE version = ${upload.version}
        `.execute(database.kysely)
        const isOwn = (file: Altered): boolean => file.name === rows[0]?.name
        return withFiles(database, {
          alter: (file) => (isOwn(file) ? file : alter(file)),
          work: () => ledger.commit(upload),
        })
      },
    }),
  }
}

/** Has an upload that evicts find more reserved bytes than there are, or fewer. */
function reserving(moreOf: (byOthers: number) => number): Variant {
  return {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        const { rows } = await sql<{ readonly bytes: number }>`
          SELECT COALESCE(SUM(reserved_bytes), 0) AS bytes FROM uploads
          WHERE user_id = ${upload.userId} AND version <> ${upload.version} AND state = 'pending'
        `.execute(database.kysely)
        const bytes = upload.evict === undefined ? 0 : moreOf(rows[0]?.bytes ?? 0)
        const reserve = (more: number) =>
          sql`
            UPDATE quotas SET reserved_bytes = reserved_bytes + ${more}
            WHERE user_id = ${upload.userId}
          `.execute(database.kysely)
        await reserve(bytes)
        try {
          return await ledger.commit(upload)
        } catch (error) {
          if (bytes <= 0 || !isAppError(error, 'capacity_exceeded')) throw error
        } finally {
          await reserve(-bytes)
        }
        return await ledger.commit(upload)
      },
    }),
  }
}

interface Altered {
  readonly name: string
  readonly version: string
  readonly updated_at: number
  readonly expires_at: number
  readonly is_kept: number
}

/** Alters the rows of files while the work runs; what is left of them is then as it was. */
async function withFiles<T>(
  { kysely }: Database,
  { alter, work }: { readonly alter: (file: Altered) => Altered; readonly work: () => Promise<T> },
): Promise<T> {
  const { rows } = await sql<Altered>`
    SELECT name, version, updated_at, expires_at, is_kept FROM files
  `.execute(kysely)
  const write = async (files: readonly Altered[]): Promise<void> => {
    for (const { version, updated_at, expires_at, is_kept } of files) {
      await sql`
        UPDATE files
        SET updated_at = ${updated_at}, expires_at = ${expires_at}, is_kept = ${is_kept}
        WHERE version = ${version}
      `.execute(kysely)
    }
  }
  await write(rows.map(alter))
  try {
    return await work()
  } finally {
    await write(rows)
  }
}
