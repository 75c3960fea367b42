import { randomBytes } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type {
  AbortUpload,
  BeginUpload,
  CheckBegin,
  ExtendUpload,
  Ledger,
  RenewUpload,
  UploadOutcome,
} from '../../core/ledger/ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { type Database, PREPARED } from '../database.ts'
import type { RunBatch } from '../postgres/connection.ts'
import { createUploadBatches } from '../postgres/upload-batcher.ts'
import { uploadStatements } from '../postgres/upload-statements.ts'
import type { Tables } from '../schema.ts'
import { listAccounts, reportCapacity } from './accounts.ts'
import { measureBacklog, measureJournal } from './backlog.ts'
import { commit } from './commit.ts'
import { createFindFile } from './find-file.ts'
import { createKeyedSemaphore } from './keyed-semaphore.ts'
import {
  assertPrecondition,
  bigint,
  capacityInForce,
  fileNamed,
  findAccount,
  findUpload,
  type LedgerTx,
  lockUser,
  lostReason,
  uploadLost,
} from './ledger-sql.ts'
import { listFiles } from './list.ts'
import { findUserToPurge, purgeDeletedUsers } from './purge.ts'
import { growthOver, hasRoom, mayBegin, needOf, refusalReason } from './quota-rule.ts'
import * as sweep from './sweep.ts'
import { deleteFile, updateFile } from './update-file.ts'

/** Equals the default wait for a connection. */
const QUEUE_TIMEOUT_MS = 10_000

/** The WHERE of an UPDATE decides, never an earlier read. The lock on the user's `quotas` row orders transactions. */
export function createLedger(
  database: Database,
  { baseCapacity }: { readonly baseCapacity: number },
): Ledger {
  const { kysely, now, forUpdate, runBatch, changesPerUser } = database
  const capacity = capacityInForce(now, baseCapacity)
  const common = { now, forUpdate, baseCapacity, capacity }
  const queueTimeoutMs = QUEUE_TIMEOUT_MS
  const userSemaphore = createKeyedSemaphore({ atOnce: changesPerUser, queueTimeoutMs })
  type Work<T> = (tx: LedgerTx) => Promise<T>
  const transaction = <T>(work: Work<T>): Promise<T> =>
    database.transaction((db) => work({ ...common, db }))
  const change = <T>(userId: UserId, work: Work<T>): Promise<T> =>
    userSemaphore(userId, () =>
      database.transaction((db) => work({ ...common, db: db.withPlugin(PREPARED) })),
    )
  const query = <T>(work: Work<T>): Promise<T> => database.query((db) => work({ ...common, db }))
  const inOrder = <T>(work: Work<T>): Promise<T> =>
    database.readInOrder((db) => work({ ...common, db }))

  const steps: Pick<Ledger, 'begin' | 'commit'> = {
    begin: (upload) => change(upload.userId, (tx) => begin(tx, upload)),
    commit: (upload) => change(upload.userId, (tx) => commit(tx, upload)),
  }
  const inBatches = (run: RunBatch) => {
    const statements = uploadStatements(kysely, common)
    return createUploadBatches({ statements, runBatch: run, userSemaphore, steps, queueTimeoutMs })
  }

  return {
    ...(runBatch === undefined ? steps : inBatches(runBatch)),
    extend: (upload) => change(upload.userId, (tx) => extend(tx, upload)),
    renew: (upload) => query((tx) => renew({ ...tx, db: tx.db.withPlugin(PREPARED) }, upload)),
    abort: (upload) => change(upload.userId, (tx) => abort(tx, upload)),
    deleteFile: (file) => change(file.userId, (tx) => deleteFile(tx, file)),
    updateFile: (file) => change(file.userId, (tx) => updateFile(tx, file)),
    listFiles: (page) => inOrder((tx) => listFiles(tx, page)),
    check: () => check(database),
    findFile: createFindFile(database),
    checkBegin: (upload) => query((tx) => checkBegin(tx, upload)),
    findAccount: (userId) => query((tx) => findAccount(tx, userId)),
    listAccounts: (page) => inOrder((tx) => listAccounts(tx, page)),
    reportCapacity: (userId, userCreatedAt) =>
      query((tx) => reportCapacity(tx, { userId, userCreatedAt })),
    endLeases: () => query((tx) => sweep.endLeases(tx)),
    listExpiredUploads: (options) => inOrder((tx) => sweep.listExpiredUploads(tx, options)),
    listAbortedUploads: (page) => inOrder((tx) => sweep.listAbortedUploads(tx, page)),
    noteAbortedRemovals: (done) => transaction((tx) => sweep.noteAbortedRemovals(tx, done)),
    forgetUploads: (options) => query((tx) => sweep.forgetUploads(tx, options)),
    listGarbage: (page) => inOrder((tx) => sweep.listGarbage(tx, page)),
    noteGarbageRemovals: (done) => transaction((tx) => sweep.noteGarbageRemovals(tx, done)),
    findUserToPurge: (after) => query((tx) => findUserToPurge(tx, after)),
    purgeDeletedUsers: (options) => transaction((tx) => purgeDeletedUsers(tx, options)),
    measureBacklog: (cap) => inOrder((tx) => measureBacklog(tx, cap)),
    measureJournal: (cap) => inOrder((tx) => measureJournal(tx, cap)),
    acquireLeaderLease: (claim) => query((tx) => sweep.acquireLeaderLease(tx, claim)),
    releaseLeaderLease: (claim) => query((tx) => sweep.releaseLeaderLease(tx, claim)),
  }
}

/** A full disk still answers reads, so a write must succeed first. */
async function check(database: Database): Promise<number> {
  const { now } = database
  await database.proveWritable((db) => writeProbe(db, now))
  const { rows } = await database.query((db) =>
    sql<{ now: number }>`SELECT ${now} AS now`.execute(db),
  )
  return rows[0]?.now ?? Number.NaN
}

async function writeProbe(db: Kysely<Tables>, now: RawBuilder<number>): Promise<void> {
  // SQLite does not write unchanged pages.
  const probe = randomBytes(PROBE_BYTES / 2).toString('hex')
  await sql`
    INSERT INTO chores (name, holder, lease_until) VALUES ('write_probe', ${probe}, ${now})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until
  `.execute(db)
}

/** About the size of a commit; a full disk may still have room for one page. */
const PROBE_BYTES = 32 * 1024

async function begin(tx: LedgerTx, upload: BeginUpload): Promise<void> {
  const { db, now } = tx
  const { userId, version, name, objectKey, bytes } = upload
  await lockUser(tx, userId)
  const replaced = await fileNamed(tx, upload)
  await assertPrecondition(tx, { ...upload, file: replaced })
  const growth = growthOver(replaced, bytes)

  const reserved = await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${growth}
    WHERE user_id = ${userId} AND ${mayBegin(tx, beginNeed(upload, replaced))}
  `.execute(db)
  if (reserved.numAffectedRows !== 1n) throw await whyNotBegun(tx, upload, replaced)

  await sql`
    INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, state, lease_until)
    VALUES (${version}, ${userId}, ${name}, ${objectKey}, ${growth}, 'pending',
            ${now} + ${upload.leaseMs})
  `.execute(db)
}

async function checkBegin(tx: LedgerTx, upload: CheckBegin): Promise<void> {
  const replaced = await fileNamed(tx, upload)
  await assertPrecondition(tx, { ...upload, file: replaced })
  const { rows } = await sql`
    SELECT 1 FROM quotas
    WHERE user_id = ${upload.userId} AND ${mayBegin(tx, beginNeed(upload, replaced))}
  `.execute(tx.db)
  if (rows.length === 0) throw await whyNotBegun(tx, upload, replaced)
}

function beginNeed(upload: CheckBegin, replaced: File | undefined) {
  const need = needOf(upload, { size: upload.bytes, replaced, ownReserved: 0 })
  return { ...need, maxUploads: bigint(upload.maxUploads) }
}

function whyNotBegun(tx: LedgerTx, upload: CheckBegin, replaced: File | undefined) {
  const newFiles = replaced === undefined ? 1 : 0
  return refusalReason(tx, { ...upload, requested: upload.bytes, newFiles, ownReserved: 0 })
}

async function extend(tx: LedgerTx, upload: ExtendUpload): Promise<void> {
  const { db, now } = tx
  const { userId, version, bytes } = upload
  await lockUser(tx, userId)
  const found = await findUpload(tx, upload)
  if (found === undefined) throw await lostReason(tx, upload)
  const replaced = await fileNamed(tx, found)
  const growth = Math.max(0, bytes - (replaced?.size ?? 0) - found.reserved)

  const extended = await sql`
    UPDATE uploads
    SET reserved_bytes = reserved_bytes + ${growth}, lease_until = ${now} + ${upload.leaseMs}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
  `.execute(db)
  if (extended.numAffectedRows !== 1n) throw await lostReason(tx, upload)

  const reserved = await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${growth}
    WHERE user_id = ${userId}
      AND ${hasRoom(tx, { growth: bigint(growth), ownReserved: bigint(0) })}
  `.execute(db)
  if (reserved.numAffectedRows !== 1n) {
    throw await refusalReason(tx, { ...upload, requested: bytes, newFiles: 0, maxFiles: 0 })
  }
}

async function renew(tx: LedgerTx, upload: RenewUpload): Promise<void> {
  const renewed = await sql`
    UPDATE uploads
    SET lease_until = ${tx.now} + ${upload.leaseMs}
    WHERE version = ${upload.version} AND state = 'pending'
  `.execute(tx.db)
  if (renewed.numAffectedRows !== 1n) throw uploadLost()
}

async function abort(tx: LedgerTx, upload: AbortUpload): Promise<UploadOutcome | undefined> {
  const { db, now } = tx
  const { userId, version, expiredOnly = false, isUntouched = false } = upload
  await lockUser(tx, userId)
  const settle = isUntouched
    ? sql`DELETE FROM uploads`
    : sql`UPDATE uploads SET state = 'aborted', settled_at = ${now}, remove_at = ${now}`
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    ${settle}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
      AND (${bigint(expiredOnly ? 0 : 1)} = 1 OR lease_until <= ${now})
    RETURNING reserved_bytes
  `.execute(db)
  if (rows[0] === undefined) return await settledAs(tx, upload)

  await sql`
    UPDATE quotas SET reserved_bytes = reserved_bytes - ${rows[0].reserved_bytes}
    WHERE user_id = ${userId}
  `.execute(db)
  return 'aborted'
}

async function settledAs(
  tx: LedgerTx,
  upload: Pick<AbortUpload, 'userId' | 'version'>,
): Promise<UploadOutcome | undefined> {
  const found = await findUpload(tx, upload)
  if (found?.state === 'pending') return undefined
  if (found !== undefined) return found.state
  // A forgotten upload may have left a file, whose object must not be treated as aborted.
  const { rows } = await sql`
    SELECT version FROM files WHERE version = ${upload.version} AND user_id = ${upload.userId}
  `.execute(tx.db)
  return rows.length === 1 ? 'committed' : 'aborted'
}
