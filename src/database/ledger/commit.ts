import { sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { CommittedUpload, CommitUpload, Usage } from '../../core/ledger/ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import {
  bigint,
  type LedgerTx,
  assertPrecondition,
  lockUser,
  readUsage,
  toUsage,
  uploadLost,
  type UsageRow,
  lostReason,
} from './ledger-sql.ts'
import { garbageBytes } from './garbage-bound.ts'
import { growthOver, isNew, mayCommit, refusalReason } from './quota-rule.ts'
import { fileNamed, findUpload, type FoundUpload, parseOutcome } from './reads.ts'

/**
 * Commits under the user's lock: settles the upload, moves the figures, swaps the file, hands the
 * old object to garbage. The WHERE of each UPDATE decides; when one changes no row, all is rolled
 * back.
 */
export async function commit(tx: LedgerTx, upload: CommitUpload): Promise<CommittedUpload> {
  await lockUser(tx, upload.userId)
  const found = await findUpload(tx, upload)
  if (found === undefined) throw await lostReason(tx, upload)
  if (found.outcome !== undefined) return await repeated(tx, found.userId, found.outcome)

  const old = await fileNamed(tx, found)
  const file = committedFile(upload, { found, old })
  await settleAsCommitted(tx, { upload, outcome: { file, replaced: old !== undefined } })
  await assertPrecondition(tx, { caller: upload, precondition: upload.precondition, file: old })
  const usage = await moveQuota(tx, { upload, old, reserved: found.reserved })
  await replaceFile(tx, { file, old, garbageDelayMs: upload.garbageDelayMs })
  return { file, replaced: old !== undefined, usage }
}

/** What the first call of `commit` answered, with the figures of today. */
async function repeated(tx: LedgerTx, userId: UserId, outcome: string): Promise<CommittedUpload> {
  const current = await readUsage(tx, userId)
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

interface Settlement {
  readonly upload: CommitUpload
  readonly outcome: { readonly file: File; readonly replaced: boolean }
}

/** The compare-and-set whose mirror is in `abort`: of the two exactly one changes the row. */
async function settleAsCommitted(tx: LedgerTx, { upload, outcome }: Settlement): Promise<void> {
  const { file } = outcome
  const settled = await sql`
    UPDATE uploads
    SET state = 'committed', settled_at = ${file.updatedAt}, outcome = ${JSON.stringify(outcome)}
    WHERE version = ${file.version} AND user_id = ${file.userId} AND state = 'pending'
  `.execute(tx.db)
  if (settled.numAffectedRows !== 1n) throw await lostReason(tx, upload)
}

interface Move {
  readonly upload: CommitUpload
  readonly old: File | undefined
  /** What the upload had reserved, in bytes. */
  readonly reserved: number
}

/** Turns the reservation into use. */
async function moveQuota(tx: LedgerTx, { upload, old, reserved }: Move): Promise<Usage> {
  const { userId, size, maxFiles } = upload
  const oldSize = old?.size ?? 0
  const newFiles = old === undefined ? 1 : 0
  const need = {
    userCreatedAt: bigint(upload.userCreatedAt),
    size: bigint(size),
    growth: bigint(growthOver(old, size)),
    ownReserved: bigint(reserved),
    isNew: isNew(old),
    maxFiles: bigint(maxFiles),
  }

  const { rows } = await sql<UsageRow>`
    UPDATE quotas
    SET used_bytes = used_bytes - ${oldSize} + ${size},
        reserved_bytes = reserved_bytes - ${reserved},
        file_count = file_count + ${newFiles}
    WHERE user_id = ${userId} AND ${mayCommit(tx, need)}
    RETURNING used_bytes, reserved_bytes, file_count, ${tx.capacity} AS capacity
  `.execute(tx.db)
  if (rows[0] === undefined) {
    const file = { requested: size, newFiles, maxFiles, ownReserved: reserved }
    throw await refusalReason(tx, { ...upload, ...file })
  }
  return toUsage(rows[0])
}

interface Replacement {
  readonly file: File
  readonly old: File | undefined
  readonly garbageDelayMs: number
}

async function replaceFile({ db }: LedgerTx, replacement: Replacement): Promise<void> {
  const { file, old, garbageDelayMs } = replacement
  await sql`
    INSERT INTO files
      (user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at)
    VALUES
      (${file.userId}, ${file.name}, ${file.version}, ${file.objectKey}, ${file.size},
       ${file.sha256}, ${file.visibility}, ${file.createdAt}, ${file.updatedAt})
    ON CONFLICT (user_id, name) DO UPDATE
    SET version = excluded.version, object_key = excluded.object_key, size = excluded.size,
        sha256 = excluded.sha256, visibility = excluded.visibility, updated_at = excluded.updated_at
  `.execute(db)
  if (old === undefined) return
  await sql`
    INSERT INTO garbage (object_key, not_before, user_id, bytes)
    VALUES (${old.objectKey}, ${file.updatedAt + garbageDelayMs}, ${old.userId},
            ${garbageBytes(bigint(old.size))})
  `.execute(db)
}
