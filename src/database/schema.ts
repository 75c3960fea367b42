import type { Generated, Kysely } from 'kysely'
import type { ClientAddress } from '../core/auth/client-address.ts'
import type { Visibility } from '../core/files/file.ts'
import type { FileName } from '../core/files/file-name.ts'
import type { ObjectKey, Version } from '../core/objects/object-key.ts'
import type { UserId } from '../core/users/user-id.ts'
import type { UserStatus } from '../core/users/user-store.ts'

/**
 * The tables as they stand after the last migration. Sizes are bytes, times are milliseconds since
 * 1970 by the database's clock, and both arrive as numbers. Branded columns hold nothing but what
 * was parsed on its way in.
 */
export interface Tables {
  readonly users: UserRow
  readonly access_tokens: AccessTokenRow
  readonly grants: GrantRow
  readonly quotas: QuotaRow
  readonly files: FileRow
  readonly uploads: UploadRow
  readonly garbage: GarbageRow
  readonly chores: ChoreRow
  readonly guesses: FailedAttemptRow
}

export interface UserRow {
  readonly id: UserId
  readonly status: UserStatus
  readonly created_at: number
}

export interface AccessTokenRow {
  /** Of the secret, which is stored nowhere. */
  readonly sha256: string
  readonly token_id: string
  readonly user_id: UserId
  readonly label: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
}

export interface GrantRow {
  readonly user_id: UserId
  readonly source: string
  readonly reference: string
  readonly bytes: number
  readonly model: string | null
  readonly starts_at: number | null
  readonly ends_at: number | null
  readonly created_at: number
  readonly revoked_at: number | null
}

/** The row that every change to a user's files locks first. */
export interface QuotaRow {
  readonly user_id: UserId
  readonly used_bytes: number
  readonly reserved_bytes: number
  readonly file_count: number
  /** What of the user's `garbage` counts; triggers keep it. */
  readonly garbage_bytes: number
}

export interface FileRow {
  readonly user_id: UserId
  readonly name: FileName
  readonly version: Version
  readonly object_key: ObjectKey
  readonly size: number
  readonly sha256: string
  readonly visibility: Visibility
  readonly created_at: number
  readonly updated_at: number
}

/**
 * Reservation and write-ahead journal in one: the row stands before the first byte reaches the
 * object store.
 */
export interface UploadRow {
  readonly version: Version
  readonly user_id: UserId
  readonly name: FileName
  readonly object_key: ObjectKey
  /** What counts in the user's quota while the upload is pending. */
  readonly reserved_bytes: number
  readonly state: 'pending' | 'committed' | 'aborted'
  readonly lease_until: number
  readonly settled_at: number | null
  /** From when what an aborted upload may have left is to be removed, for the first time or again. */
  readonly remove_at: number
  /** What the commit answered, as JSON, so that a repeated commit answers the same. */
  readonly outcome: string | null
}

export interface GarbageRow {
  readonly object_key: ObjectKey
  readonly not_before: number
  /** Whose bound it counts against, if anyone's: of who is gone, or was never known, it counts against none. */
  readonly user_id: UserId | null
  readonly bytes: Generated<number>
}

/** Which instance does a chore that one does for all, and until when nobody else does. */
export interface ChoreRow {
  readonly name: string
  readonly holder: string
  readonly lease_until: number
}

/** How often an address was wrong about tokens, for as long as that matters; see `core/auth/failed-attempts.ts`. */
export interface FailedAttemptRow {
  readonly address: ClientAddress
  readonly guesses: number
  readonly window_ends_at: number
  readonly blocks: number
  readonly blocked_until: number
  readonly expires_at: number
}

/** Whether a rebuild goes on, or was interrupted: only then is there its table `rebuild_objects`, of `database/rebuild/`. */
export async function isRebuilding(db: Kysely<Tables>): Promise<boolean> {
  const tables = await db.introspection.getTables()
  return tables.some(({ name }) => name === 'rebuild_objects')
}
