import type { Precondition } from '../files/precondition.ts'
import type { FileName, FileNamePrefix } from '../files/file-name.ts'
import type { File, Visibility } from '../files/file.ts'
import type { ErrorCode } from '../error-codes.ts'
import type { ContentDigest } from '../objects/content-digest.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { Retention, UploadTerms } from '../uploads/upload-ledger.ts'
import type { Actor, Caller } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { Piece } from '../objects/append-store.ts'

/** An `open` upload accepts bytes; a `sealed` one has all of them and awaits its commit. The other states are final. */
export type ResumableState = 'open' | 'sealed' | 'finished' | 'cancelled' | 'expired' | 'lost'

/** One resumable upload, as recorded in the database. Sizes are in bytes, times in milliseconds since 1970. */
export interface ResumableUpload {
  readonly userId: UserId
  /** Also the upload's id, and the version of the file once it is finished. */
  readonly version: Version
  readonly name: FileName
  readonly objectKey: ObjectKey
  readonly state: ResumableState
  /** `undefined` while the length is deferred. */
  readonly length: number | undefined
  /** Bytes that are durable and recorded; never decreases (I11). */
  readonly offset: number
  /** The part size for all appends of this upload. */
  readonly partSize: number
  /** The fencing token: a record with an older epoch changes nothing (I13). */
  readonly epoch: number
  /** Whether an append or a finish holds an unexpired lease, on any instance. */
  readonly isHeld: boolean
  /** The instance of the last claim that was not released, even if its lease has expired. */
  readonly holder: string | undefined
  /** The object store's state of it, as last recorded. */
  readonly storeState: string
  /** The `Upload-Metadata` header as received, at most 4 KiB. */
  readonly metadata: string
  readonly visibility: Visibility | undefined
  readonly precondition: Precondition | undefined
  /** The link by which it was created: only that continues it, besides the user. */
  readonly linkId: string | undefined
  /** The narrow credential that created it: its reservation grows with the bytes that arrive. See `Actor`. */
  readonly credential: string | undefined
  /** The device whose token created the upload. */
  readonly deviceId: string | undefined
  /** See `CommitUpload`. */
  readonly evict: FileNamePrefix | undefined
  readonly expiresInMs: number | undefined
  /** Digest that the client announced: 64 lower-case hexadecimal digits. */
  readonly expectedSha256: string | undefined
  /** Of the content, if it was known when the upload was sealed, or has been read since. */
  readonly digest: ContentDigest | undefined
  /** The code of the last refusal to commit a sealed upload. */
  readonly refusal: ErrorCode | undefined
  readonly createdAt: number
  readonly updatedAt: number
  /** When it expires unless more bytes are recorded. From then on its state is `expired`, even before it is aborted. */
  readonly expiresAt: number
}

/** What the client announces of a new upload. */
export interface AnnouncedUpload extends Retention {
  readonly name: FileName
  /** `undefined` if the length is deferred. */
  readonly length: number | undefined
  readonly metadata: string
  readonly visibility: Visibility | undefined
  readonly precondition: Precondition | undefined
}

export interface CreateResumable extends Actor, AnnouncedUpload, Pick<UploadTerms, 'linkId'> {
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly partSize: number
  readonly expectedSha256: string | undefined
  /** The lifetime of an upload without bytes. */
  readonly emptyLifetimeMs: number
  /** The maximum lifetime of an upload. */
  readonly maxLifetimeMs: number
}

export interface NamedResumable {
  readonly userId: UserId
  /** If set, uploads of a user created at another time are not found. */
  readonly userCreatedAt?: number | undefined
  readonly version: Version
  /** If set, uploads that were not created by this link are not found. */
  readonly linkId?: string | undefined
}

export interface PrepareAppend extends Caller {
  readonly version: Version
  /** The content size that must fit: the length if known, else the bytes that the append may cover next. */
  readonly bytes: number
  /** The content size to reserve for; `bytes` if omitted. */
  readonly reserved?: number | undefined
  /** Declares a deferred length. The declaration may be repeated. */
  readonly length?: number | undefined
  /** Declares the digest of the whole content. The declaration may be repeated. */
  readonly sha256?: string | undefined
}

export interface ClaimResumable extends Caller {
  readonly version: Version
  /** The instance that will hold it. */
  readonly holder: string
  /** The lease of the claim. While it runs, the upload expires only at its maximum lifetime. */
  readonly holderMs: number
}

export interface ClaimAppend extends ClaimResumable {
  /** Must equal the recorded offset. */
  readonly offset: number
  /** If set, must equal the recorded epoch: `storeState` was derived from the upload as read with that epoch. */
  readonly epoch?: number | undefined
  /** Journaled as garbage before any byte is written under it; `undefined` if the store keeps no tails. */
  readonly tailKey: ObjectKey | undefined
  /** If set, recorded with the claim: what must survive a crash before the first record. */
  readonly storeState?: string | undefined
}

export interface Claim {
  readonly upload: ResumableUpload
  /** The pieces after the last full part. The next part must contain their bytes. */
  readonly tail: readonly Piece[]
}

export interface RecordAppend {
  readonly userId: UserId
  readonly version: Version
  readonly epoch: number
  readonly offset: number
  readonly storeState: string
  /** Recorded pieces that begin at or after this byte are replaced by `pieces`. */
  readonly replacedFrom: number
  readonly pieces: readonly Piece[]
  /** The lease of the append from now; `undefined` releases it. */
  readonly holderMs: number | undefined
  /** At the end of the append: bytes that may be stored under the tail key; `undefined` if nothing was sent. */
  readonly sentTailBytes?: number | undefined
  /**
   * Seals the upload, because all bytes are recorded. No append can be claimed afterwards. With `holderMs`, its holder
   * keeps it for the finish.
   */
  readonly sealed?: { readonly digest: ContentDigest | undefined } | undefined
}

/** A claim, by its fencing token. */
export interface NamedClaim {
  readonly userId: UserId
  readonly version: Version
  readonly epoch: number
}

export interface EndFinish extends NamedClaim {
  /** Recorded for clients; `undefined` clears it. */
  readonly refusal: ErrorCode | undefined
  /** Recorded, so that the next finish need not read the object. */
  readonly digest: ContentDigest | undefined
}

export interface ResumablePage {
  readonly userId: UserId
  readonly userCreatedAt?: number | undefined
  /** Of the names of the files; all if left out. */
  readonly prefix?: FileNamePrefix | undefined
  readonly after: Version | undefined
  readonly limit: number
}

export interface Unfinished {
  readonly count: number
  readonly bytes: number
}

/**
 * PORT: uploads that consist of several requests. As every part of the ledger, it keeps the contract of `UploadLedger`.
 * The row of `uploads` stays `pending` until `UploadLedger.commit` or `abort`, which work as for any upload.
 */
export interface ResumableLedger {
  /**
   * Guarantees that the upload is in the journal and its growth is reserved, or that nothing has changed. A deferred
   * length, and any of a narrow credential, reserves and announces nothing yet. Rejects as `begin` does, except for
   * `maxUploads`, and with `unfinished_uploads_exceeded` (facts `unfinished_count, unfinished_bytes,
   * max_unfinished_uploads`) in two cases: in the place of `maxUploads`, if the user would have more than
   * `maxUnfinished` unexpired uploads; last of all, if the user has other unfinished uploads and together they announce
   * more bytes than the current capacity. The `WHERE` of the reserving `UPDATE` decides. An upload by a link is also
   * refused with `not_found` if the link has ended, as `dropRefusal` says, and with `too_many_requests` as
   * `assertMoreDrops` says of unfinished uploads.
   */
  createResumable(upload: CreateResumable): Promise<ResumableUpload>

  /** An upload in any state, until its row is deleted 15 min after its end, or at its end if it was never claimed. */
  findResumable(upload: NamedResumable): Promise<ResumableUpload | undefined>

  /** The current file of that version, under any name; `undefined` if it was replaced or deleted. */
  findVersion(upload: NamedResumable): Promise<File | undefined>

  /** The unfinished uploads of a user, by version, which is the order of their creation. */
  listResumables(page: ResumablePage): Promise<readonly ResumableUpload[]>

  measureUnfinished(userId: UserId): Promise<Unfinished>

  /**
   * Guarantees that a commit of `bytes` bytes would not be refused at this moment, and that the growth of a file of
   * `reserved` bytes is reserved. Declares `length` and `sha256` if given. Takes the user's lock only if it has to
   * write. Rejects with `not_found`; with `upload_gone` if it has ended without a file; with `invalid_parameter` if a
   * different length or digest was declared, or if this length is below the offset; as `commit` does; if a deferred
   * length grows, as `createResumable` does for announced bytes; and with `upload_busy` for a finished upload, and for
   * a declaration while an append holds the upload.
   */
  prepareAppend(append: PrepareAppend): Promise<void>

  /**
   * Guarantees that only this holder can record, until it releases the upload, is fenced, or its lease expires.
   * `undefined` if another lease is running, the offset differs, or the upload is not open; the caller reads the upload
   * to find out why. An expired upload cannot be claimed, even before it is swept.
   */
  claimAppend(claim: ClaimAppend): Promise<Claim | undefined>

  /** As `claimAppend`, for a sealed upload. */
  claimFinish(claim: ClaimResumable): Promise<ResumableUpload | undefined>

  /**
   * Guarantees that offset, pieces and `storeState` are durable under the epoch, and, if the offset has increased, that
   * the upload lives on from now, but not beyond its maximum lifetime, and resolves to `true`; or changes
   * nothing and resolves to `false`: the append was fenced or has released the upload, or the upload has ended.
   * Postpones the removal of tail objects in use, and releases those that were replaced. At the end of the append, its
   * tail key is forgotten unless something was sent under it. A finish renews its claim with it: same offset, no
   * pieces, `sealed` set.
   */
  recordAppend(record: RecordAppend): Promise<boolean>

  /** Releases the claim of a finish that did not commit. Changes nothing if it was fenced. */
  endFinish(finish: EndFinish): Promise<void>

  /** All pieces, by first byte. */
  listPieces(version: Version): Promise<readonly Piece[]>

  /** Asks the holder, on any instance, to record what it has received and to release the upload. */
  askToStop(upload: NamedResumable): Promise<void>

  /** The uploads that this holder was asked to release, and those that were aborted while it held them. */
  listAskedToStop(holder: string): Promise<readonly Version[]>

  /**
   * Guarantees that neither this claim nor an earlier one can record anything, and resolves to `true`; or changes
   * nothing and resolves to `false`: the upload is sealed, or was claimed or fenced since.
   */
  fence(claim: NamedClaim): Promise<boolean>

  /**
   * Guarantees that everything that methods have returned before the call is as durable as a commit of this process.
   * After a crash, a database with a synchronous standby can show changes that a failover undoes. Refusals of all
   * methods are confirmed already. What a method that changes nothing has returned must be confirmed, in this order,
   * before a client is told something that it takes for an acknowledgement: an offset, or that a file is stored or an
   * upload has ended. Reads of files, listings and figures acknowledge nothing (docs/storage.md).
   */
  confirm(): Promise<void>
}
