import { sql } from 'kysely'
import { AppError } from '../core/errors.ts'
import type { File } from '../core/file.ts'
import type {
  BeginUpload,
  CommittedUpload,
  CommitUpload,
  Ledger,
  Settled,
  Usage,
} from '../core/ledger.ts'
import type { UserId } from '../core/user-id.ts'
import {
  bigint,
  type Books,
  capacityInForce,
  lockUser,
  readUsage,
  toUsage,
  type UsageRow,
  whyRefused,
} from './books.ts'
import type { Database } from './database.ts'
import { fileNamed, findFile, findUpload, type FoundUpload, parseOutcome } from './ledger-reads.ts'
import * as sweep from './ledger-sweep.ts'

/**
 * The ledger on a SQL database. What decides is always the WHERE of an UPDATE, never a value read before it. Every
 * transaction locks the user's row of `quotas` first, then goes through `uploads`, `files` and `garbage` in that order.
 * `baseCapacity` is what every user has without any grant, in bytes.
 */
export function createLedger(
  database: Database,
  { baseCapacity }: { readonly baseCapacity: number },
): Ledger {
  const { now, forUpdate, bytewise } = database
  const common = { now, forUpdate, bytewise, capacity: capacityInForce(now, baseCapacity) }
  const transaction = <T>(work: (books: Books) => Promise<T>): Promise<T> =>
    database.transaction((db) => work({ ...common, db }))
  const query = <T>(work: (books: Books) => Promise<T>): Promise<T> =>
    database.query((db) => work({ ...common, db }))

  return {
    begin: (upload) => transaction((books) => begin(books, upload)),
    extend: (upload) => transaction((books) => extend(books, upload)),
    renew: (upload) => query((books) => renew(books, upload)),
    commit: (upload) => transaction((books) => commit(books, upload)),
    abort: (upload) => transaction((books) => abort(books, upload)),
    findFile: (file) => query((books) => findFile(books, file)),
    usage: (userId) => query(async (books) => (await readUsage(books, userId))?.usage),
    listExpiredUploads: (limit) => query((books) => sweep.listExpiredUploads(books, limit)),
    listAbortedUploads: (page) => query((books) => sweep.listAbortedUploads(books, page)),
    forgetSettledUploads: (options) => query((books) => sweep.forgetSettledUploads(books, options)),
    listGarbage: (page) => query((books) => sweep.listGarbage(books, page)),
    forgetGarbage: (keys) => query((books) => sweep.forgetGarbage(books, keys)),
    purgeDeletedUsers: (limit) => transaction((books) => sweep.purgeDeletedUsers(books, limit)),
  }
}

const isActive = sql`EXISTS (
  SELECT 1 FROM users WHERE users.id = quotas.user_id AND users.status = 'active'
)`

async function begin(books: Books, upload: BeginUpload): Promise<void> {
  const { db, now, capacity } = books
  const { userId, version, name, objectKey, bytes } = upload
  await lockUser(books, userId)
  const replaced = await fileNamed(books, upload)
  const growth = Math.max(0, bytes - (replaced?.size ?? 0))
  const newFiles = replaced === undefined ? 1 : 0

  const reserved = await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${growth}
    WHERE user_id = ${userId}
      AND ${isActive}
      AND (${bigint(newFiles)} = 0 OR file_count < ${bigint(upload.maxFiles)})
      AND (${bigint(growth)} = 0 OR used_bytes + reserved_bytes + ${growth} <= ${capacity})
  `.execute(db)
  if (reserved.numAffectedRows !== 1n) {
    throw await whyRefused(books, { ...upload, requested: bytes, newFiles })
  }

  await sql`
    INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, state, lease_until)
    VALUES (${version}, ${userId}, ${name}, ${objectKey}, ${growth}, 'pending', ${now} + ${upload.leaseMs})
  `.execute(db)
}

async function extend(books: Books, upload: Parameters<Ledger['extend']>[0]): Promise<void> {
  const { db, now, capacity } = books
  const { userId, version, bytes } = upload
  await lockUser(books, userId)
  const found = await findUpload(books, upload)
  if (found === undefined) throw uploadLost()
  const replaced = await fileNamed(books, found)
  const growth = Math.max(0, bytes - (replaced?.size ?? 0) - found.reserved)

  const extended = await sql`
    UPDATE uploads
    SET reserved_bytes = reserved_bytes + ${growth}, lease_until = ${now} + ${upload.leaseMs}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
  `.execute(db)
  if (extended.numAffectedRows !== 1n) throw uploadLost()

  const reserved = await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${growth}
    WHERE user_id = ${userId}
      AND (${bigint(growth)} = 0 OR used_bytes + reserved_bytes + ${growth} <= ${capacity})
  `.execute(db)
  if (reserved.numAffectedRows !== 1n) {
    throw await whyRefused(books, { userId, requested: bytes, newFiles: 0, maxFiles: 0 })
  }
}

async function renew(books: Books, upload: Parameters<Ledger['renew']>[0]): Promise<void> {
  const renewed = await sql`
    UPDATE uploads
    SET lease_until = ${books.now} + ${upload.leaseMs}
    WHERE version = ${upload.version} AND state = 'pending'
  `.execute(books.db)
  if (renewed.numAffectedRows !== 1n) throw uploadLost()
}

async function commit(books: Books, upload: CommitUpload): Promise<CommittedUpload> {
  await lockUser(books, upload.userId)
  const found = await findUpload(books, upload)
  if (found === undefined) throw uploadLost()
  if (found.outcome !== undefined) return await repeated(books, found.userId, found.outcome)

  const old = await fileNamed(books, found)
  const file = committedFile(upload, { found, old })
  await settleAsCommitted(books, { file, replaced: old !== undefined })
  const usage = await moveQuota(books, { upload, old, reserved: found.reserved })
  await replaceFile(books, { file, old, garbageDelayMs: upload.garbageDelayMs })
  return { file, replaced: old !== undefined, usage }
}

/** What the first call of `commit` answered, with the figures of today. */
async function repeated(books: Books, userId: UserId, outcome: string): Promise<CommittedUpload> {
  const current = await readUsage(books, userId)
  if (current === undefined) throw uploadLost()
  return { ...parseOutcome(outcome), usage: current.usage }
}

function committedFile(
  { version, size, sha256, visibility }: CommitUpload,
  { found, old }: { readonly found: FoundUpload; readonly old: File | undefined },
): File {
  return {
    userId: found.userId,
    name: found.name,
    version,
    objectKey: found.objectKey,
    size,
    sha256,
    visibility: visibility ?? old?.visibility ?? 'private',
    createdAt: old?.createdAt ?? found.now,
    updatedAt: found.now,
  }
}

/** The compare-and-set whose mirror is in `abort`: of the two exactly one changes the row. */
async function settleAsCommitted(
  { db }: Books,
  outcome: { readonly file: File; readonly replaced: boolean },
): Promise<void> {
  const { file } = outcome
  const settled = await sql`
    UPDATE uploads
    SET state = 'committed', settled_at = ${file.updatedAt}, outcome = ${JSON.stringify(outcome)}
    WHERE version = ${file.version} AND user_id = ${file.userId} AND state = 'pending'
  `.execute(db)
  if (settled.numAffectedRows !== 1n) throw uploadLost()
}

interface Move {
  readonly upload: CommitUpload
  readonly old: File | undefined
  /** What the upload had reserved, in bytes. */
  readonly reserved: number
}

/**
 * Turns the reservation into use. Growth within the reservation needs room for itself alone, since others hold no
 * claim on it; growth beyond it must leave what others have reserved.
 */
async function moveQuota(books: Books, { upload, old, reserved }: Move): Promise<Usage> {
  const { userId, size, maxFiles } = upload
  const oldSize = old?.size ?? 0
  const growth = Math.max(0, size - oldSize)
  const newFiles = old === undefined ? 1 : 0

  const { rows } = await sql<UsageRow>`
    UPDATE quotas
    SET used_bytes = used_bytes - ${oldSize} + ${size},
        reserved_bytes = reserved_bytes - ${reserved},
        file_count = file_count + ${newFiles}
    WHERE user_id = ${userId}
      AND ${isActive}
      AND (${bigint(newFiles)} = 0 OR file_count < ${bigint(maxFiles)})
      AND (
        ${bigint(growth)} = 0
        OR (${bigint(growth)} <= ${bigint(reserved)} AND used_bytes + ${growth} <= ${books.capacity})
        OR used_bytes + reserved_bytes - ${reserved} + ${growth} <= ${books.capacity}
      )
    RETURNING used_bytes, reserved_bytes, file_count, ${books.capacity} AS capacity
  `.execute(books.db)
  if (rows[0] === undefined) {
    throw await whyRefused(books, { userId, requested: size, newFiles, maxFiles })
  }
  return toUsage(rows[0])
}

interface Replacement {
  readonly file: File
  readonly old: File | undefined
  readonly garbageDelayMs: number
}

async function replaceFile({ db }: Books, replacement: Replacement): Promise<void> {
  const { file, old, garbageDelayMs } = replacement
  await sql`
    INSERT INTO files
      (user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at)
    VALUES
      (${file.userId}, ${file.name}, ${file.version}, ${file.objectKey}, ${file.size}, ${file.sha256},
       ${file.visibility}, ${file.createdAt}, ${file.updatedAt})
    ON CONFLICT (user_id, name) DO UPDATE
    SET version = excluded.version, object_key = excluded.object_key, size = excluded.size,
        sha256 = excluded.sha256, visibility = excluded.visibility, updated_at = excluded.updated_at
  `.execute(db)
  if (old === undefined) return
  await sql`
    INSERT INTO garbage (object_key, not_before)
    VALUES (${old.objectKey}, ${file.updatedAt + garbageDelayMs})
  `.execute(db)
}

async function abort(
  books: Books,
  upload: Parameters<Ledger['abort']>[0],
): Promise<Settled | undefined> {
  const { db, now } = books
  const { userId, version, expiredOnly = false } = upload
  await lockUser(books, userId)
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    UPDATE uploads
    SET state = 'aborted', settled_at = ${now}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
      AND (${bigint(expiredOnly ? 0 : 1)} = 1 OR lease_until <= ${now})
    RETURNING reserved_bytes
  `.execute(db)
  if (rows[0] === undefined) return settledAs(await findUpload(books, upload))

  await sql`
    UPDATE quotas SET reserved_bytes = reserved_bytes - ${rows[0].reserved_bytes}
    WHERE user_id = ${userId}
  `.execute(db)
  return 'aborted'
}

function settledAs(found: FoundUpload | undefined): Settled | undefined {
  if (found === undefined) return 'aborted'
  return found.state === 'pending' ? undefined : found.state
}

function uploadLost(): AppError {
  return new AppError('unavailable', 'The upload took too long between its bytes and was given up.')
}
