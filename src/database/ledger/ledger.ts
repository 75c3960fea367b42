import { sql } from 'kysely'
import type {
  AbortUpload,
  BeginUpload,
  CheckBegin,
  FindFile,
  ExtendUpload,
  Ledger,
  RenewUpload,
  Settled,
} from '../../core/ledger/ledger.ts'
import type { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Version } from '../../core/objects/version.ts'
import * as accounts from './accounts.ts'
import {
  bigint,
  type Books,
  capacityInForce,
  countUploads,
  demand,
  lockUser,
  readUsage,
  uploadLost,
  whyLost,
} from './ledger-sql.ts'
import type { Database } from '../database.ts'
import { growthOver, hasRoom, isNew, mayBegin, whyRefused } from './quota-rule.ts'
import { measureBacklog, measureJournal } from './backlog.ts'
import { changeFile, removeFile } from './update-file.ts'
import { commit } from './commit.ts'
import { holdChore, leaveChore, proveWritable } from './leader-lease.ts'
import { listFiles } from './list.ts'
import { findUserToPurge, purgeDeletedUsers } from './purge.ts'
import { fileNamed, findFile, findFiles, findUpload, isCurrent, readClock } from './reads.ts'
import { PREPARED } from '../postgres/prepared-statement.ts'
import * as sweep from './sweep.ts'
import type { RunBatch } from '../postgres/batch.ts'
import { createUploadBatches, type UploadLedger } from '../postgres/upload-batcher.ts'
import { createReadBatches } from '../postgres/batch-loader.ts'
import { uploadStatements } from '../postgres/upload-statements.ts'
import { createTurns } from './keyed-semaphore.ts'

/** As long as a connection is waited for. */
const TURN_PATIENCE_MS = 10_000

/**
 * The ledger on a SQL database. What decides is always the WHERE of an UPDATE, never a value read
 * before it. Every transaction locks the user's row of `quotas` first, and that lock alone puts them in order.
 * `baseCapacity` is what every user has without any grant, in bytes.
 */
export function createLedger(
  database: Database,
  { baseCapacity }: { readonly baseCapacity: number },
): Ledger {
  const { kysely, now, forUpdate, bytewise, runBatch } = database
  const capacity = capacityInForce(now, baseCapacity)
  const common = { now, forUpdate, bytewise, baseCapacity, capacity }
  const turns = createTurns({ atOnce: database.changesPerUser, patienceMs: TURN_PATIENCE_MS })
  const transaction = <T>(work: (books: Books) => Promise<T>): Promise<T> =>
    database.transaction((db) => work({ ...common, db }))
  const change = <T>(userId: UserId, work: (books: Books) => Promise<T>): Promise<T> =>
    turns(userId, () =>
      database.transaction((db) => work({ ...common, db: db.withPlugin(PREPARED) })),
    )
  const query = <T>(work: (books: Books) => Promise<T>): Promise<T> =>
    database.query((db) => work({ ...common, db }))
  const hotQuery = <T>(work: (books: Books) => Promise<T>): Promise<T> =>
    database.query((db) => work({ ...common, db: db.withPlugin(PREPARED) }))
  const inOrder = <T>(work: (books: Books) => Promise<T>): Promise<T> =>
    database.readInOrder((db) => work({ ...common, db }))

  const steps: UploadLedger = {
    begin: (upload) => change(upload.userId, (books) => begin(books, upload)),
    commit: (upload) => change(upload.userId, (books) => commit(books, upload)),
  }
  const inBatches = (runBatch: RunBatch): UploadLedger => {
    const statements = uploadStatements(kysely.withPlugin(PREPARED), common)
    return createUploadBatches({
      statements,
      runBatch,
      turns,
      steps,
      patienceMs: TURN_PATIENCE_MS,
    })
  }

  const findOne = (file: FindFile) => hotQuery((books) => findFile(books, file))
  const findMany = createReadBatches<FindFile, File | undefined>(async (files) => {
    const [first, ...others] = files
    return first !== undefined && others.length === 0
      ? [await findOne(first)]
      : hotQuery((books) => findFiles(books, files))
  })

  return {
    ...(runBatch === undefined ? steps : inBatches(runBatch)),
    extend: (upload) => change(upload.userId, (books) => extend(books, upload)),
    renew: (upload) => hotQuery((books) => renew(books, upload)),
    abort: (upload) => change(upload.userId, (books) => abort(books, upload)),
    removeFile: (file) => change(file.userId, (books) => removeFile(books, file)),
    changeFile: (file) => change(file.userId, (books) => changeFile(books, file)),
    listFiles: (page) => inOrder((books) => listFiles(books, page)),
    check: () => check(database, query),
    findFile: runBatch === undefined ? findOne : findMany,
    countUploads: (userId) => query((books) => countUploads(books, userId)),
    checkBegin: (upload) => query((books) => checkBegin(books, upload)),
    usage: (userId) => query(async (books) => (await readUsage(books, userId))?.usage),
    findAccount: (userId) => query((books) => accounts.findAccount(books, userId)),
    listAccounts: (page) => inOrder((books) => accounts.listAccounts(books, page)),
    reportCapacity: (userId, userCreatedAt) =>
      query((books) => accounts.reportCapacity(books, { userId, userCreatedAt })),
    endLeases: () => query((books) => sweep.endLeases(books)),
    listExpiredUploads: (options) => inOrder((books) => sweep.listExpiredUploads(books, options)),
    listAbortedUploads: (page) => inOrder((books) => sweep.listAbortedUploads(books, page)),
    noteAbortedRemovals: (done) => transaction((books) => sweep.noteAbortedRemovals(books, done)),
    forgetUploads: (options) => query((books) => sweep.forgetUploads(books, options)),
    listGarbage: (page) => inOrder((books) => sweep.listGarbage(books, page)),
    noteGarbageRemovals: (done) => transaction((books) => sweep.noteGarbageRemovals(books, done)),
    findUserToPurge: (after) => query((books) => findUserToPurge(books, after)),
    purgeDeletedUsers: (options) => transaction((books) => purgeDeletedUsers(books, options)),
    measureBacklog: (cap) => inOrder((books) => measureBacklog(books, cap)),
    measureJournal: (cap) => inOrder((books) => measureJournal(books, cap)),
    holdChore: (chore) => query((books) => holdChore(books, chore)),
    leaveChore: (chore) => query((books) => leaveChore(books, chore)),
  }
}

/** A database whose disk is full answers every read. */
async function check(
  database: Pick<Database, 'proveWritable' | 'now'>,
  query: <T>(work: (books: Books) => Promise<T>) => Promise<T>,
): Promise<number> {
  await database.proveWritable((db) => proveWritable({ db, now: database.now }))
  return await query(readClock)
}

async function begin(books: Books, upload: BeginUpload): Promise<void> {
  const { db, now } = books
  const { userId, version, name, objectKey, bytes } = upload
  await lockUser(books, userId)
  const replaced = await fileNamed(books, upload)
  await demand(books, { caller: upload, precondition: upload.precondition, file: replaced })
  const growth = growthOver(replaced, bytes)

  const reserved = await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${growth}
    WHERE user_id = ${userId} AND ${mayBegin(books, needOf(upload, replaced))}
  `.execute(db)
  if (reserved.numAffectedRows !== 1n) throw await whyNotBegun(books, upload, replaced)

  await sql`
    INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, state, lease_until)
    VALUES (${version}, ${userId}, ${name}, ${objectKey}, ${growth}, 'pending',
            ${now} + ${upload.leaseMs})
  `.execute(db)
}

/** Reads what `begin` would decide by, without the lock. */
async function checkBegin(books: Books, upload: CheckBegin): Promise<void> {
  const replaced = await fileNamed(books, upload)
  await demand(books, { caller: upload, precondition: upload.precondition, file: replaced })
  const { rows } = await sql`
    SELECT 1 FROM quotas
    WHERE user_id = ${upload.userId} AND ${mayBegin(books, needOf(upload, replaced))}
  `.execute(books.db)
  if (rows.length === 0) throw await whyNotBegun(books, upload, replaced)
}

function needOf(upload: CheckBegin, replaced: File | undefined) {
  return {
    userCreatedAt: bigint(upload.userCreatedAt),
    size: bigint(upload.bytes),
    growth: bigint(growthOver(replaced, upload.bytes)),
    ownReserved: bigint(0),
    isNew: isNew(replaced),
    maxFiles: bigint(upload.maxFiles),
    maxUploads: bigint(upload.maxUploads),
  }
}

function whyNotBegun(
  books: Books,
  upload: CheckBegin,
  replaced: File | undefined,
): Promise<AppError> {
  const newFiles = replaced === undefined ? 1 : 0
  return whyRefused(books, { ...upload, requested: upload.bytes, newFiles, ownReserved: 0 })
}

async function extend(books: Books, upload: ExtendUpload): Promise<void> {
  const { db, now } = books
  const { userId, version, bytes } = upload
  await lockUser(books, userId)
  const found = await findUpload(books, upload)
  if (found === undefined) throw await whyLost(books, upload)
  const replaced = await fileNamed(books, found)
  const growth = Math.max(0, bytes - (replaced?.size ?? 0) - found.reserved)

  const extended = await sql`
    UPDATE uploads
    SET reserved_bytes = reserved_bytes + ${growth}, lease_until = ${now} + ${upload.leaseMs}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
  `.execute(db)
  if (extended.numAffectedRows !== 1n) throw await whyLost(books, upload)

  const reserved = await sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${growth}
    WHERE user_id = ${userId}
      AND ${hasRoom(books, { growth: bigint(growth), ownReserved: bigint(0) })}
  `.execute(db)
  if (reserved.numAffectedRows !== 1n) {
    throw await whyRefused(books, { ...upload, requested: bytes, newFiles: 0, maxFiles: 0 })
  }
}

async function renew(books: Books, upload: RenewUpload): Promise<void> {
  const renewed = await sql`
    UPDATE uploads
    SET lease_until = ${books.now} + ${upload.leaseMs}
    WHERE version = ${upload.version} AND state = 'pending'
  `.execute(books.db)
  if (renewed.numAffectedRows !== 1n) throw uploadLost()
}

async function abort(books: Books, upload: AbortUpload): Promise<Settled | undefined> {
  const { db, now } = books
  const { userId, version, expiredOnly = false, isUntouched = false } = upload
  await lockUser(books, userId)
  const settle = isUntouched
    ? sql`DELETE FROM uploads`
    : sql`UPDATE uploads SET state = 'aborted', settled_at = ${now}, remove_at = ${now}`
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    ${settle}
    WHERE version = ${version} AND user_id = ${userId} AND state = 'pending'
      AND (${bigint(expiredOnly ? 0 : 1)} = 1 OR lease_until <= ${now})
    RETURNING reserved_bytes
  `.execute(db)
  if (rows[0] === undefined) return await settledAs(books, upload)

  await sql`
    UPDATE quotas SET reserved_bytes = reserved_bytes - ${rows[0].reserved_bytes}
    WHERE user_id = ${userId}
  `.execute(db)
  return 'aborted'
}

async function settledAs(
  books: Books,
  upload: { readonly userId: UserId; readonly version: Version },
): Promise<Settled | undefined> {
  const found = await findUpload(books, upload)
  if (found?.state === 'pending') return undefined
  // A forgotten upload may have left a file, whose object must not be taken for an aborted one's.
  return found?.state ?? ((await isCurrent(books, upload)) ? 'committed' : 'aborted')
}
