import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { NEVER } from '../../core/files/file.ts'
import type { Database } from '../database.ts'

type Dialect = Pick<Database, 'bytewise' | 'clustered' | 'createTrigger'>

/** `schema.ts` says what the columns mean. */
export function initial({ bytewise, clustered, createTrigger }: Dialect): Migration {
  const text = sql`text COLLATE ${bytewise}`
  const statements = [
    ...users(text, clustered),
    ...files(text),
    ...uploads(text),
    ...garbage(text, createTrigger),
    ...history(text),
    ...changes(text, clustered),
    ...operations(text, clustered),
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}

type Statements = readonly RawBuilder<unknown>[]

const count = sql`bigint NOT NULL DEFAULT 0`
const size = sql`bigint NOT NULL CHECK`

function users(text: RawBuilder<unknown>, clustered: RawBuilder<unknown>): Statements {
  return [
    sql`CREATE TABLE users (
      id ${text} NOT NULL PRIMARY KEY,
      status text NOT NULL CHECK (status IN ('active', 'suspended', 'deleted')),
      created_at bigint NOT NULL
    )`,
    sql`CREATE INDEX users_deleted ON users (id) WHERE status = 'deleted'`,
    // Counts suspended users without reading the rows of the others.
    sql`CREATE INDEX users_suspended ON users (id) WHERE status = 'suspended'`,
    sql`CREATE INDEX users_by_creation ON users (created_at, id)`,
    sql`CREATE TABLE access_tokens (
      sha256 ${text} NOT NULL PRIMARY KEY,
      token_id ${text} NOT NULL,
      user_id ${text} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      label text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint,
      scope text,
      device_id text,
      parent_id text,
      credential ${text}
    )`,
    sql`CREATE UNIQUE INDEX access_tokens_by_user ON access_tokens (user_id, token_id)`,
    sql`CREATE INDEX access_tokens_by_creation ON access_tokens (user_id, created_at, token_id)`,
    sql`CREATE INDEX access_tokens_by_end ON access_tokens (user_id, COALESCE(revoked_at, expires_at))
      WHERE COALESCE(revoked_at, expires_at) IS NOT NULL`,
    sql`CREATE TABLE links (
      sha256 ${text} NOT NULL PRIMARY KEY,
      link_id ${text} NOT NULL,
      user_id ${text} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      token_id text NOT NULL,
      device_id text,
      credential ${text},
      kind text NOT NULL,
      name text,
      prefix text,
      label text NOT NULL,
      password_hash text,
      max_uses bigint,
      uses ${count},
      use_fraction ${count},
      max_bytes bigint,
      max_files bigint,
      received_bytes ${count},
      created_at bigint NOT NULL,
      expires_at bigint,
      maker_ends_at bigint
    )`,
    sql`CREATE UNIQUE INDEX links_by_user ON links (user_id, link_id)`,
    sql`CREATE TABLE grants (
      user_id ${text} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      source ${text} NOT NULL,
      reference ${text} NOT NULL,
      bytes ${size} (bytes >= 0),
      model text,
      label text,
      share text,
      starts_at bigint,
      ends_at bigint,
      created_at bigint NOT NULL,
      PRIMARY KEY (user_id, source, reference)
    )`,
    sql`CREATE INDEX grants_of_devices ON grants (user_id, reference, label)
      WHERE source = 'device'`,
    sql`CREATE INDEX grants_by_start ON grants (starts_at, user_id) WHERE starts_at IS NOT NULL`,
    sql`CREATE INDEX grants_by_end ON grants (ends_at, user_id) WHERE ends_at IS NOT NULL`,
    sql`CREATE TABLE quotas (
      user_id ${text} NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      used_bytes ${size} (used_bytes >= 0),
      reserved_bytes ${size} (reserved_bytes >= 0),
      file_count ${size} (file_count >= 0),
      garbage_bytes ${count},
      history_bytes ${count},
      history_count ${count},
      history_protected ${count},
      history_excess ${count},
      change_count ${count},
      changed_at ${count},
      previously_changed_at ${count},
      newest_at ${count},
      freed_at ${count},
      capacity_state text
    )`,
    sql`CREATE INDEX quotas_to_trim ON quotas (user_id) WHERE history_excess > 0`,
    sql`CREATE TABLE device_usage (
      user_id ${text} NOT NULL REFERENCES quotas (user_id) ON DELETE CASCADE,
      device_id ${text} NOT NULL,
      used_bytes ${size} (used_bytes >= 0),
      file_count ${size} (file_count >= 0),
      PRIMARY KEY (user_id, device_id)
    ) ${clustered}`,
  ]
}

const EXPIRING = sql`WHERE expires_at < ${sql.lit(NEVER)}`

/**
 * One index per order and audience, so that hidden files cost other users' listings nothing. The conditions on the time
 * and the size hold for every file, but only a listing states them, so no other statement can use these indexes: where
 * most users have few files, PostgreSQL would take them to cost as little as the primary key, and read all files of a
 * user to find one.
 */
function files(text: RawBuilder<unknown>): Statements {
  const audiences = [
    ['files_listed', sql``],
    ['files_listed_shared', sql`AND visibility <> 'private'`],
    ['files_listed_public', sql`AND visibility = 'public'`],
  ] as const
  return [
    // References the quota row, which its writers have locked, so that the check adds no lock. Does not cascade: no file
    // may disappear before its object is in garbage.
    sql`CREATE TABLE files (
      user_id ${text} NOT NULL REFERENCES quotas (user_id),
      name ${text} NOT NULL,
      version ${text} NOT NULL UNIQUE,
      object_key ${text} NOT NULL,
      size ${size} (size >= 0),
      sha256 text NOT NULL,
      crc32 bigint NOT NULL,
      visibility text NOT NULL CHECK (visibility IN ('private', 'users', 'public')),
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      modified_at ${count},
      media_type text,
      metadata text,
      metadata_bytes ${count},
      expires_at bigint NOT NULL DEFAULT ${sql.lit(NEVER)},
      is_kept ${count},
      stored_by ${text},
      device_id ${text},
      PRIMARY KEY (user_id, name)
    )`,
    sql`CREATE INDEX files_shared_by_name ON files (user_id, name) WHERE visibility <> 'private'`,
    sql`CREATE INDEX files_public_by_name ON files (user_id, name) WHERE visibility = 'public'`,
    ...audiences.flatMap(([name, audience]) =>
      ['updated_at', 'size'].map((order) => {
        const column = sql.ref(order)
        return sql`CREATE INDEX ${sql.ref(`${name}_by_${order}`)} ON files (user_id, ${column}, name)
          WHERE ${column} >= 0 ${audience}`
      }),
    ),
    ...['name', 'updated_at, name', 'size, name'].map(
      (order) => sql`CREATE INDEX ${sql.ref(`files_of_device_by_${order.replace(', name', '')}`)}
        ON files (user_id, device_id, ${sql.raw(order)}) WHERE device_id IS NOT NULL`,
    ),
    sql`CREATE INDEX files_by_expiry ON files (expires_at) ${EXPIRING}`,
    sql`CREATE INDEX files_of_user_by_expiry ON files (user_id, expires_at) ${EXPIRING}`,
  ]
}

function uploads(text: RawBuilder<unknown>): Statements {
  return [
    sql`CREATE TABLE uploads (
      version ${text} NOT NULL PRIMARY KEY,
      user_id ${text} NOT NULL REFERENCES quotas (user_id) ON DELETE CASCADE,
      name ${text} NOT NULL,
      object_key ${text} NOT NULL,
      reserved_bytes ${size} (reserved_bytes >= 0),
      state text NOT NULL CHECK (state IN ('pending', 'committed', 'aborted')),
      lease_until bigint NOT NULL,
      settled_at bigint,
      remove_at ${count},
      outcome text,
      is_evicting ${count},
      credential ${text},
      device_id ${text},
      device_reserved ${count} CHECK (device_reserved >= 0),
      link_id text,
      garbage_bytes ${count},
      CHECK ((state = 'pending') = (settled_at IS NULL))
    )`,
    sql`CREATE INDEX uploads_by_user ON uploads (user_id, state)`,
    sql`CREATE INDEX uploads_by_lease ON uploads (lease_until) WHERE state = 'pending'`,
    sql`CREATE INDEX uploads_to_remove ON uploads (remove_at, version) WHERE state = 'aborted'`,
    sql`CREATE INDEX uploads_ended ON uploads (user_id, settled_at) WHERE state = 'aborted'`,
    // Without the condition, aborted uploads with unremovable objects would precede the committed ones.
    sql`CREATE INDEX uploads_committed ON uploads (settled_at) WHERE state = 'committed'`,
    sql`CREATE INDEX uploads_by_link ON uploads (link_id)
      WHERE link_id IS NOT NULL AND state = 'pending'`,
    sql`CREATE TABLE resumable_uploads (
      version ${text} NOT NULL PRIMARY KEY REFERENCES uploads (version) ON DELETE CASCADE,
      user_id ${text} NOT NULL,
      length_bytes bigint CHECK (length_bytes >= 0),
      announced_bytes ${size} (announced_bytes >= 0),
      received_bytes ${count} CHECK (received_bytes >= 0),
      part_size ${size} (part_size > 0),
      epoch ${count},
      holder text,
      holder_until ${count},
      stop_asked ${count},
      tail_key ${text},
      store_state text NOT NULL DEFAULT '{}',
      metadata text NOT NULL,
      visibility text,
      precondition text,
      evict text,
      expires_in bigint,
      expected_sha256 text,
      sha256 text,
      crc32 bigint,
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
      version ${text} NOT NULL REFERENCES uploads (version) ON DELETE CASCADE,
      first_byte ${size} (first_byte >= 0),
      size ${size} (size > 0),
      receipt text NOT NULL,
      object_key ${text},
      PRIMARY KEY (version, first_byte)
    )`,
    // A tail has at most about a hundred pieces, but an upload can have ten thousand.
    sql`CREATE INDEX upload_pieces_tail ON upload_pieces (version, first_byte)
      WHERE object_key IS NOT NULL`,
  ]
}

/** Triggers subtract rows that are deleted, also with the user's others, from what counts as the user's garbage. */
function garbage(text: RawBuilder<unknown>, createTrigger: Dialect['createTrigger']): Statements {
  return [
    sql`CREATE TABLE garbage (
      object_key ${text} NOT NULL PRIMARY KEY,
      not_before bigint NOT NULL,
      bytes ${count},
      -- The next user with this id has none of this garbage.
      user_id ${text} REFERENCES quotas (user_id) ON DELETE SET NULL
    )`,
    sql`CREATE INDEX garbage_in_order ON garbage (not_before, object_key)`,
    sql`CREATE INDEX garbage_by_user ON garbage (user_id, not_before) WHERE user_id IS NOT NULL`,
    ...createTrigger({
      name: 'garbage_added',
      event: 'INSERT ON garbage',
      when: 'NEW.user_id IS NOT NULL',
      statement:
        'UPDATE quotas SET garbage_bytes = garbage_bytes + NEW.bytes WHERE user_id = NEW.user_id',
    }),
    ...createTrigger({
      name: 'garbage_removed',
      event: 'DELETE ON garbage',
      when: 'OLD.user_id IS NOT NULL',
      statement:
        'UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.bytes WHERE user_id = OLD.user_id',
    }),
    ...createTrigger({
      name: 'ended_upload_removed',
      event: 'DELETE ON uploads',
      when: 'OLD.garbage_bytes > 0',
      statement:
        'UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.garbage_bytes WHERE user_id = OLD.user_id',
    }),
  ]
}

// The narrow credential that a version counts against, and in which order its versions go. Versions that the account
// itself has stored and ended are in neither index.
const CREDENTIAL = sql`COALESCE(ended_by, stored_by)`
const RANK = sql`CASE WHEN ended_by IS NULL THEN 1 WHEN ended_by = stored_by THEN 0 ELSE 2 END`
const CHARGED = sql`WHERE ${CREDENTIAL} IS NOT NULL AND is_protected = 0`
const PROTECTED = sql`WHERE is_protected = 1`

function history(text: RawBuilder<unknown>): Statements {
  return [
    // As `files`, it does not cascade: no row may disappear before its object is in garbage.
    sql`CREATE TABLE history (
      version ${text} NOT NULL PRIMARY KEY,
      user_id ${text} NOT NULL REFERENCES quotas (user_id),
      name ${text} NOT NULL,
      object_key ${text} NOT NULL,
      size bigint NOT NULL,
      sha256 text NOT NULL,
      crc32 bigint NOT NULL,
      visibility text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      media_type text,
      metadata text,
      expires_at bigint NOT NULL DEFAULT ${sql.lit(NEVER)},
      stored_by ${text},
      device_id ${text},
      ended_at bigint NOT NULL,
      ended_as text NOT NULL,
      ended_by ${text},
      is_protected ${count}
    )`,
    sql`CREATE INDEX history_by_end ON history (user_id, ended_at, version)`,
    sql`CREATE INDEX history_by_name ON history (user_id, name, ended_at, version)`,
    sql`CREATE INDEX history_by_age ON history (ended_at)`,
    sql`CREATE INDEX history_by_expiry ON history (expires_at) ${EXPIRING}`,
    sql`CREATE INDEX history_of_user_by_expiry ON history (user_id, expires_at) ${EXPIRING}`,
    sql`CREATE INDEX history_protected ON history (ended_at) ${PROTECTED}`,
    sql`CREATE INDEX history_of_user_protected ON history (user_id, ended_at, version) ${PROTECTED}`,
    sql`CREATE INDEX history_charged_by_end ON history (user_id, ended_at, version) ${CHARGED}`,
    sql`CREATE INDEX history_by_charged
      ON history (user_id, (${CREDENTIAL}), (${RANK}), ended_at, version) ${CHARGED}`,
  ]
}

function changes(text: RawBuilder<unknown>, clustered: RawBuilder<unknown>): Statements {
  return [
    // Without a reference to `quotas`, whose row each writer has locked: the check would cost each commit.
    sql`CREATE TABLE changes (
      user_id ${text} NOT NULL,
      sequence bigint NOT NULL,
      type text NOT NULL,
      at bigint NOT NULL,
      previous_at bigint NOT NULL,
      name ${text},
      version ${text},
      size bigint,
      sha256 text,
      visibility text,
      previous_name ${text},
      media_type text,
      device_id ${text},
      capacity bigint,
      used bigint,
      PRIMARY KEY (user_id, sequence)
    ) ${clustered}`,
    // Without a reference to `users`: the event of a user's purge outlives the user.
    sql`CREATE TABLE webhook_queues (
      user_id ${text} PRIMARY KEY,
      delivered bigint NOT NULL,
      purged_at bigint,
      waiting_since bigint NOT NULL,
      due_at bigint NOT NULL,
      attempts ${count},
      failing_since bigint
    )`,
    sql`CREATE INDEX webhook_queues_due ON webhook_queues (due_at, user_id)`,
    sql`CREATE INDEX webhook_queues_by_age ON webhook_queues (waiting_since)`,
    sql`CREATE TABLE parked_webhooks (
      webhook_id ${text} PRIMARY KEY,
      user_id ${text} NOT NULL,
      type text NOT NULL,
      at bigint NOT NULL,
      body text NOT NULL,
      attempts bigint NOT NULL,
      reason text NOT NULL,
      parked_at bigint NOT NULL
    )`,
    sql`CREATE INDEX parked_webhooks_in_order ON parked_webhooks (parked_at, webhook_id)`,
  ]
}

function operations(text: RawBuilder<unknown>, clustered: RawBuilder<unknown>): Statements {
  return [
    sql`CREATE TABLE daily_usage (
      day bigint PRIMARY KEY,
      users bigint NOT NULL,
      files bigint NOT NULL,
      used_bytes bigint NOT NULL
    ) ${clustered}`,
    sql`CREATE TABLE operators (
      name ${text} NOT NULL PRIMARY KEY,
      role text NOT NULL CHECK (role IN ('viewer', 'support', 'admin')),
      token_sha256 ${text} NOT NULL UNIQUE,
      created_at bigint NOT NULL
    )`,
    // Without references: the deletion of a user outlives the user, and what an operator did the operator.
    sql`CREATE TABLE operator_actions (
      action_id ${text} PRIMARY KEY,
      at bigint NOT NULL,
      action text NOT NULL,
      user_id ${text},
      operator ${text},
      details text NOT NULL,
      address text,
      request_id text
    )`,
    sql`CREATE INDEX operator_actions_by_user ON operator_actions (user_id, action_id)`,
    sql`CREATE INDEX operator_actions_by_operator ON operator_actions (operator, action_id)`,
    sql`CREATE TABLE object_store (
      id bigint PRIMARY KEY CHECK (id = 1),
      identity ${text} NOT NULL,
      is_confirmed bigint NOT NULL
    )`,
    sql`CREATE TABLE leader_leases (
      name ${text} NOT NULL PRIMARY KEY,
      holder text NOT NULL,
      lease_until bigint NOT NULL
    )`,
  ]
}
