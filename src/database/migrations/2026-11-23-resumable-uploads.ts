import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Adds two tables and changes no other, so the previous release works as before. It aborts an upload whose lease has
 * ended, and when it deletes an ended upload, the rows here are deleted too. `ended_as` is NULL for an upload that
 * expired.
 */
export function resumableUploads(bytewise: RawBuilder<unknown>): Migration {
  const name = sql`text COLLATE ${bytewise} NOT NULL`
  const statements = [
    sql`CREATE TABLE resumable_uploads (
      version ${name} PRIMARY KEY REFERENCES uploads (version) ON DELETE CASCADE,
      user_id ${name},
      length_bytes bigint CHECK (length_bytes >= 0),
      announced_bytes bigint NOT NULL CHECK (announced_bytes >= 0),
      received_bytes bigint NOT NULL DEFAULT 0 CHECK (received_bytes >= 0),
      part_size bigint NOT NULL CHECK (part_size > 0),
      epoch bigint NOT NULL DEFAULT 0,
      holder text,
      holder_until bigint NOT NULL DEFAULT 0,
      stop_asked bigint NOT NULL DEFAULT 0,
      tail_key text COLLATE ${bytewise},
      store_state text NOT NULL DEFAULT '{}',
      metadata text NOT NULL,
      visibility text,
      precondition text,
      expected_sha256 text,
      sha256 text,
      sealed_at bigint,
      refusal text,
      ended_as text CHECK (ended_as IN ('cancelled', 'lost')),
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      ends_at bigint NOT NULL,
      CHECK (length_bytes IS NULL OR received_bytes <= length_bytes),
      CHECK (sealed_at IS NULL OR (length_bytes IS NOT NULL AND received_bytes = length_bytes))
    )`,
    sql`CREATE INDEX resumable_uploads_by_user ON resumable_uploads (user_id, version)`,
    sql`CREATE INDEX resumable_uploads_held ON resumable_uploads (holder) WHERE holder IS NOT NULL`,
    sql`CREATE TABLE upload_pieces (
      version ${name} REFERENCES uploads (version) ON DELETE CASCADE,
      first_byte bigint NOT NULL CHECK (first_byte >= 0),
      size bigint NOT NULL CHECK (size > 0),
      receipt text NOT NULL,
      object_key text COLLATE ${bytewise},
      PRIMARY KEY (version, first_byte)
    )`,
    // A tail has at most about a hundred pieces, but an upload can have ten thousand.
    sql`CREATE INDEX upload_pieces_tail ON upload_pieces (version, first_byte)
        WHERE object_key IS NOT NULL`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}
