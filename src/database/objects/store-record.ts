import { type Kysely, sql } from 'kysely'
import type { RecordedStore, StoreRecord } from '../../core/objects/store-record.ts'
import type { Database } from '../database.ts'
import type { Tables } from '../schema.ts'

export function createStoreRecord({ query }: Pick<Database, 'query'>): StoreRecord {
  return {
    read: () => query(read),
    propose: (identity) =>
      query(async (db) => {
        await sql`${insert(identity, 0)} ON CONFLICT DO NOTHING`.execute(db)
        return (await read(db))?.identity ?? identity
      }),
    confirm: (identity) =>
      query(async (db) => {
        await sql`${insert(identity, 1)} ${REPLACE} WHERE object_store.is_confirmed = 0`.execute(db)
        return (await read(db))?.identity ?? identity
      }),
    replace: async (identity) => {
      await query((db) => sql`${insert(identity, 1)} ${REPLACE}`.execute(db))
    },
  }
}

async function read(db: Kysely<Tables>): Promise<RecordedStore | undefined> {
  const row = await db.selectFrom('object_store').selectAll().executeTakeFirst()
  return row && { identity: row.identity, isConfirmed: row.is_confirmed === 1 }
}

function insert(identity: string, isConfirmed: 0 | 1) {
  return sql`INSERT INTO object_store (id, identity, is_confirmed) VALUES (1, ${identity}, ${isConfirmed})`
}

const REPLACE = sql`
  ON CONFLICT (id) DO UPDATE SET identity = excluded.identity, is_confirmed = excluded.is_confirmed
`
