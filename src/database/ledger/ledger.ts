import { type CompiledQuery, sql } from 'kysely'
import type {
  AbortUpload,
  ExtendUpload,
  Ledger,
  RenewUpload,
  UploadOutcome,
} from '../../core/ledger/ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Database } from '../database.ts'
import { createCompiler, PREPARED } from '../statement.ts'
import type { RunBatch } from '../postgres/connection.ts'
import { appendStatements } from '../postgres/append-statements.ts'
import { createUploadBatches, type UploadLedger } from '../postgres/upload-batcher.ts'
import { uploadStatements } from '../postgres/upload-statements.ts'
import { listAccounts, reportCapacity } from './accounts.ts'
import { begin, checkBegin } from './begin.ts'
import { measureBacklog, measureJournal } from './backlog.ts'
import { check } from './check.ts'
import { commit } from './commit.ts'
import { createFindFile } from './find-file.ts'
import { createKeyedSemaphore } from './keyed-semaphore.ts'
import {
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
import { garbageBytes, growthOver, hasRoom, refusalReason } from './quota-rule.ts'
import { createResumable } from './resumable/create.ts'
import { endResumable, isUnclaimed } from './resumable/end.ts'
import { createResumableLedger } from './resumable/resumable.ts'
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
  const compile = createCompiler(kysely, { now, capacity })
  const common = { now, forUpdate, baseCapacity, capacity, compile }
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

  const steps: UploadLedger = {
    begin: (upload) => change(upload.userId, (tx) => begin(tx, upload)),
    createResumable: (upload) => change(upload.userId, (tx) => createResumable(tx, upload)),
    commit: (upload) => change(upload.userId, (tx) => commit(tx, upload)),
  }
  const execute = <R>(userId: UserId, statement: CompiledQuery<R>): Promise<readonly R[]> =>
    userSemaphore(userId, () => database.execute(statement))
  const statements = runBatch && appendStatements(kysely, common)
  const inBatches = (run: RunBatch) => {
    const options = { runBatch: run, userSemaphore, steps, queueTimeoutMs }
    return createUploadBatches({ statements: uploadStatements(kysely, common), ...options })
  }

  return {
    ...(runBatch === undefined ? steps : inBatches(runBatch)),
    ...createResumableLedger({ change, query, execute, statements }),
    extend: (upload) => change(upload.userId, (tx) => extend(tx, upload)),
    renew: (upload) => query((tx) => renew({ ...tx, db: tx.db.withPlugin(PREPARED) }, upload)),
    abort: (upload) => change(upload.userId, (tx) => abort(tx, upload)),
    deleteFile: (file) => change(file.userId, (tx) => deleteFile(tx, file)),
    updateFile: (file) => change(file.userId, (tx) => updateFile(tx, file)),
    listFiles: (page) => inOrder((tx) => listFiles(tx, page)),
    check: () => check(database),
    findFile: createFindFile(database),
    confirm: () => database.confirm(),
    checkBegin: (upload) => query((tx) => checkBegin(tx, upload)),
    findAccount: (userId) => query((tx) => findAccount(tx, userId)),
    listAccounts: (page) => inOrder((tx) => listAccounts(tx, page)),
    reportCapacity: (userId, userCreatedAt) =>
      query((tx) => reportCapacity(tx, { userId, userCreatedAt })),
    endLeases: () => transaction((tx) => sweep.endLeases(tx)),
    listExpiredUploads: (options) => inOrder((tx) => sweep.listExpiredUploads(tx, options)),
    listPendingUploads: (page) => inOrder((tx) => sweep.listPendingUploads(tx, page)),
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

async function extend(tx: LedgerTx, upload: ExtendUpload): Promise<void> {
  const { db, now } = tx
  const { userId, version, bytes } = upload
  await lockUser(tx, userId)
  const found = await findUpload(tx, upload)
  if (found === undefined) throw await lostReason(tx, upload)
  const replaced = await fileNamed(tx, found)
  const growth = Math.max(0, growthOver(replaced, bytes) - found.reserved)

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
  const isForgotten = isUntouched || (await isUnclaimed(tx, upload))
  const settle = isForgotten
    ? sql`DELETE FROM uploads`
    : sql`UPDATE uploads SET state = 'aborted', settled_at = ${now}, remove_at = ${now},
        garbage_bytes = ${garbageBytes(sql`0`)}`
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    ${settle}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
      AND (${bigint(expiredOnly ? 0 : 1)} = 1 OR lease_until <= ${now})
    RETURNING reserved_bytes
  `.execute(db)
  if (rows[0] === undefined) return await settledAs(tx, upload)

  await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes - ${rows[0].reserved_bytes},
        garbage_bytes = garbage_bytes + ${isForgotten ? sql`0` : garbageBytes(sql`0`)}
    WHERE user_id = ${userId}
  `.execute(db)
  if (!isForgotten) await endResumable(tx, upload)
  return isForgotten ? 'forgotten' : 'aborted'
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
