import type { Generated, Kysely } from 'kysely'
import type { ActionName } from '../core/audit/audit-ledger.ts'
import type { Change } from '../core/changes/change.ts'
import type { ErrorCode } from '../core/error-codes.ts'
import type { Visibility } from '../core/files/file.ts'
import type { MediaType } from '../core/files/media-type.ts'
import type { Metadata } from '../core/files/metadata.ts'
import type { FileName, FileNamePrefix } from '../core/files/file-name.ts'
import type { LinkKind } from '../core/links/link.ts'
import type { PastVersion } from '../core/history/past-version.ts'
import type { ObjectKey, Version } from '../core/objects/object-key.ts'
import type { OperatorRole } from '../core/operators/operator.ts'
import type { CapacityState } from '../core/quota/capacity.ts'
import type { WebhookEvent } from '../core/webhooks/webhook-events.ts'
import type { UserId } from '../core/users/user-id.ts'
import type { UserStatus } from '../core/users/user-store.ts'

/** Sizes are bytes; times are milliseconds since 1970 by the database's clock. Branded columns hold parsed values. */
export interface Tables {
  readonly users: UserRow
  readonly access_tokens: AccessTokenRow
  readonly links: LinkRow
  readonly grants: GrantRow
  readonly quotas: QuotaRow
  readonly device_usage: DeviceUsageRow
  readonly files: FileRow
  readonly uploads: UploadRow
  readonly resumable_uploads: ResumableUploadRow
  readonly upload_pieces: UploadPieceRow
  readonly garbage: GarbageRow
  readonly history: HistoryRow
  readonly changes: ChangeRow
  readonly webhook_queues: WebhookQueueRow
  readonly parked_webhooks: ParkedWebhookRow
  readonly daily_usage: DailyUsageRow
  readonly operators: OperatorRow
  readonly operator_actions: OperatorActionRow
  readonly object_store: ObjectStoreRow
  readonly leader_leases: LeaderLeaseRow
}

export interface UserRow {
  readonly id: UserId
  readonly status: UserStatus
  readonly created_at: number
}

export interface AccessTokenRow {
  /** SHA-256 of the secret, which is never stored. */
  readonly sha256: string
  readonly token_id: string
  readonly user_id: UserId
  readonly label: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
  /** The actions and the prefix as JSON; `null` if the token permits everything. */
  readonly scope: string | null
  /** Removing the device revokes the token. */
  readonly device_id: string | null
  /** The token that made this one: a `token_id`, or the SHA-256 of a JWT. */
  readonly parent_id: string | null
  /** The narrow credential that made it (core/quota/README.md). */
  readonly credential: string | null
}

/** A link for people without an account. */
export interface LinkRow {
  /** SHA-256 of the secret, which is never stored. */
  readonly sha256: string
  readonly link_id: string
  readonly user_id: UserId
  /** The token that made it: a `token_id`, or the SHA-256 of a JWT. */
  readonly token_id: string
  /** Removing the device removes the link. */
  readonly device_id: string | null
  /** The narrow credential that made it. */
  readonly credential: string | null
  readonly kind: LinkKind
  /** Exactly one of `name` and `prefix` is set. */
  readonly name: FileName | null
  readonly prefix: FileNamePrefix | null
  readonly label: string
  /** See `hashPassword`. */
  readonly password_hash: string | null
  readonly max_uses: number | null
  readonly uses: number
  /** What has been sent of the next use, in units of `1 / USE_UNITS`. */
  readonly use_fraction: number
  /** Of a drop link, as is `max_files`. */
  readonly max_bytes: number | null
  readonly max_files: number | null
  readonly received_bytes: number
  readonly created_at: number
  readonly expires_at: number | null
  /** The end of the token that made it, if the link must not outlive that. */
  readonly maker_ends_at: number | null
}

/** What gives a user capacity. User, source and reference are unique together. */
export interface GrantRow {
  readonly user_id: UserId
  readonly source: string
  readonly reference: string
  readonly bytes: number
  readonly model: string | null
  /** Of a device, as is `share`: `all`, `own` (its `bytes`), or bytes in decimal digits. */
  readonly label: string | null
  readonly share: string | null
  readonly starts_at: number | null
  readonly ends_at: number | null
  readonly created_at: number
}

/** The figures of a user. Every write locks and checks this row first. */
export interface QuotaRow {
  readonly user_id: UserId
  readonly used_bytes: number
  readonly reserved_bytes: number
  readonly file_count: number
  /** Bytes of `garbage` and of aborted uploads that count for the user. Triggers subtract deleted rows. */
  readonly garbage_bytes: number
  /** What `history` counts, and how many rows it has. */
  readonly history_bytes: number
  readonly history_count: number
  /** The part of `history_bytes` that is protected. */
  readonly history_protected: Generated<number>
  /** By how much the other part exceeded the allowance when either last changed. Counts as garbage. */
  readonly history_excess: number
  /** The sequence of the newest change; 0 before the first one. */
  readonly change_count: number
  /** Times of the newest change and of the one before it; 0 if there is none. */
  readonly changed_at: number
  readonly previously_changed_at: number
  /** The date of the newest commit that changed files or the state of the capacity; never goes back. */
  readonly newest_at: Generated<number>
  /** The latest `Last-Modified` of a content whose name was freed since. */
  readonly freed_at: Generated<number>
  /** As last recorded; `null` before. */
  readonly capacity_state: CapacityState | null
}

/** What the files of a device count. A row exists while there is one. */
export interface DeviceUsageRow {
  readonly user_id: UserId
  readonly device_id: string
  readonly used_bytes: number
  readonly file_count: number
}

interface VersionRow {
  readonly user_id: UserId
  readonly name: FileName
  readonly version: Version
  readonly object_key: ObjectKey
  readonly size: number
  readonly sha256: string
  readonly crc32: number
  readonly visibility: Visibility
  readonly created_at: number
  readonly updated_at: number
  /** `null` is the default, which most files have. */
  readonly media_type: MediaType | null
  readonly metadata: Metadata | null
  /** The device whose token stored the content. */
  readonly device_id: string | null
}

export interface FileRow extends VersionRow {
  /** `NEVER` if the file does not expire. */
  readonly expires_at: Generated<number>
  /** 1 if evictions spare the file, else 0. */
  readonly is_kept: Generated<0 | 1>
  /** What the metadata count, in bytes; see `countedBytes`. */
  readonly metadata_bytes: Generated<number>
  /** See `File`. */
  readonly modified_at: Generated<number>
  /** See `File.storedBy`. */
  readonly stored_by: string | null
}

/** Reservation and write-ahead journal: the row exists before the object store receives the first byte. */
export interface UploadRow {
  readonly version: Version
  readonly user_id: UserId
  readonly name: FileName
  readonly object_key: ObjectKey
  readonly reserved_bytes: number
  readonly state: 'pending' | 'committed' | 'aborted'
  readonly lease_until: number
  readonly settled_at: number | null
  /** When the object of an aborted upload is next due for removal. */
  readonly remove_at: number
  /** JSON result of the commit, so that a repeated commit returns the same. */
  readonly outcome: string | null
  /** 1 if its commit may evict files, else 0. */
  readonly is_evicting: Generated<number>
  /** The narrow credential that began it. */
  readonly credential: Generated<string | null>
  /** The device whose token began it. */
  readonly device_id: string | null
  /** While it is pending, what it has reserved of its device's share. */
  readonly device_reserved: Generated<number>
  /** The link by which it was begun. */
  readonly link_id: Generated<string | null>
  /** What an aborted upload counts as its user's garbage. */
  readonly garbage_bytes: Generated<number>
}

/** An upload that consists of several requests. `uploads` has its reservation, lease and outcome. */
export interface ResumableUploadRow {
  readonly version: Version
  readonly user_id: UserId
  /** `null` while the length is deferred. */
  readonly length_bytes: number | null
  /** The length, or the bytes announced so far while it is deferred. */
  readonly announced_bytes: number
  /** The offset. */
  readonly received_bytes: number
  readonly part_size: number
  /** The fencing token of the last claim. */
  readonly epoch: number
  /** The instance of the last claim, until it releases the upload. */
  readonly holder: string | null
  readonly holder_until: number
  /** 1 if the holder should release the upload, else 0. */
  readonly stop_asked: number
  /** Journaled in `garbage` by the current claim. */
  readonly tail_key: ObjectKey | null
  readonly store_state: string
  /** Empty once the upload is aborted, as is `precondition`. */
  readonly metadata: string
  readonly visibility: Visibility | null
  /** JSON of a `Precondition`. */
  readonly precondition: string | null
  /** The prefix of the files that its commit may evict. */
  readonly evict: FileNamePrefix | null
  /** How long the file is to live, in milliseconds. */
  readonly expires_in: number | null
  readonly expected_sha256: string | null
  /** Of the whole content, once known; `crc32` with it. */
  readonly sha256: string | null
  readonly crc32: number | null
  readonly sealed_at: number | null
  readonly refusal: ErrorCode | null
  /** `null` for an aborted upload that expired. */
  readonly ended_as: 'cancelled' | 'lost' | null
  readonly created_at: number
  readonly updated_at: number
  /** The lease never extends beyond this. */
  readonly ends_at: number
}

export interface UploadPieceRow extends PieceRow {
  readonly version: Version
}

/** A piece of a known upload. */
export interface PieceRow {
  readonly first_byte: number
  readonly size: number
  readonly receipt: string
  /** The object of a piece of the tail, which is also in `garbage`; `null` for a part. */
  readonly object_key: ObjectKey | null
}

/** An object that no file refers to any more, and when it may be removed. */
export interface GarbageRow {
  readonly object_key: ObjectKey
  readonly not_before: number
  /** The user whose garbage limit it counts against; `null` if that user is gone or was never known. */
  readonly user_id: UserId | null
  readonly bytes: Generated<number>
}

/** Columns of `files`, as they were when the version ended. */
export interface HistoryRow extends VersionRow {
  readonly ended_at: number
  readonly ended_as: PastVersion['endedAs']
  /** As in `files`: the version leaves the history then, if not before. */
  readonly expires_at: Generated<number>
  /** See `File.storedBy`. */
  readonly stored_by: string | null
  /** The narrow credential that has ended it; `null` if the account itself has. */
  readonly ended_by: string | null
  /** 1 while the trimming spares it, else 0. */
  readonly is_protected: Generated<0 | 1>
}

/** A change of an account. Its transaction has locked the user's row in `quotas`, which counts it. */
export interface ChangeRow {
  readonly user_id: UserId
  readonly sequence: number
  readonly type: Change['type']
  readonly at: number
  readonly previous_at: number
  /** Of a file: its name to `visibility`. Of the capacity: `capacity` and `used`. The others are `null`. */
  readonly name: FileName | null
  readonly version: Version | null
  readonly size: number | null
  readonly sha256: string | null
  readonly visibility: Visibility | null
  readonly previous_name: FileName | null
  readonly media_type: MediaType | null
  readonly device_id: string | null
  readonly capacity: number | null
  readonly used: number | null
}

/** A user with events that no webhook has delivered yet. */
export interface WebhookQueueRow {
  readonly user_id: UserId
  /** The sequence of the last change that was delivered, parked or left out. */
  readonly delivered: number
  /** Set while the user's purge is to be delivered, before all changes. */
  readonly purged_at: number | null
  /** Since when the next event waits. */
  readonly waiting_since: number
  readonly due_at: number
  /** Failed attempts at the next event. */
  readonly attempts: number
  readonly failing_since: number | null
}

/** An event that could not be delivered for a day. */
export interface ParkedWebhookRow {
  readonly webhook_id: string
  readonly user_id: UserId
  readonly type: WebhookEvent
  readonly at: number
  readonly body: string
  readonly attempts: number
  readonly reason: string
  readonly parked_at: number
}

/** The figures of all users at the beginning of a day. */
export interface DailyUsageRow {
  /** Midnight UTC. */
  readonly day: number
  readonly users: number
  readonly files: number
  readonly used_bytes: number
}

export interface OperatorRow {
  readonly name: string
  readonly role: OperatorRole
  readonly token_sha256: string
  readonly created_at: number
}

/** What an operator did. */
export interface OperatorActionRow {
  readonly action_id: Version
  readonly at: number
  readonly action: ActionName
  readonly user_id: UserId | null
  /** A name; `null` for the `ADMIN_TOKEN` and the command line. */
  readonly operator: string | null
  /** JSON. */
  readonly details: string
  readonly address: string | null
  readonly request_id: string | null
}

/** The object store that the database knows: one row. */
export interface ObjectStoreRow {
  readonly id: 1
  /** A UUID. */
  readonly identity: string
  /** 1 once a store was found with it, else 0. */
  readonly is_confirmed: 0 | 1
}

export interface LeaderLeaseRow {
  readonly name: string
  readonly holder: string
  readonly lease_until: number
}

/** Whether the service has been started on this database. */
export async function hasTables(db: Kysely<Tables>): Promise<boolean> {
  const tables = await db.introspection.getTables()
  return tables.some(({ name }) => name === 'leader_leases')
}

/** The row of `leader_leases` that exists only during a rebuild, or after an interrupted one. */
export const REBUILD = 'rebuild'

export async function isRebuilding(db: Kysely<Tables>): Promise<boolean> {
  const rows = db.selectFrom('leader_leases').select('name').where('name', '=', REBUILD)
  return (await rows.execute()).length > 0
}
