import { sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { CommittedUpload, CommitUpload, Usage } from '../../core/ledger/ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import {
  assertPrecondition,
  fileNamed,
  findAccount,
  findUpload,
  type FoundUpload,
  type LedgerTx,
  lockUser,
  lostReason,
  uploadLost,
} from './ledger-sql.ts'
import { mayCommit, needOf, refusalReason } from './quota-rule.ts'
import { INSERT_FILE, type Outcome, REPLACE_FILE, USAGE_COLUMNS } from './rows.ts'
import { discardObject } from './update-file.ts'

export async function commit(tx: LedgerTx, upload: CommitUpload): Promise<CommittedUpload> {
  await lockUser(tx, upload.userId)
  const found = await findUpload(tx, upload)
  if (found === undefined) throw await lostReason(tx, upload)
  if (found.outcome !== null) return await repeated(tx, found.userId, found.outcome)

  const old = await fileNamed(tx, found)
  const file = committedFile(upload, { found, old })
  const outcome = { file, replaced: old !== undefined }
  await settleAsCommitted(tx, { upload, outcome })
  await assertPrecondition(tx, { ...upload, file: old })
  const usage = await moveQuota(tx, { upload, replaced: old, ownReserved: found.reserved })
  await putFile(tx, file)
  if (old !== undefined) await discardObject(tx, { ...upload, file: old })
  return { ...outcome, usage }
}

async function repeated(tx: LedgerTx, userId: UserId, outcome: string): Promise<CommittedUpload> {
  const { user, usage } = (await findAccount(tx, userId)) ?? {}
  if (usage === undefined || user?.status === 'deleted') throw uploadLost()
  return { ...(JSON.parse(outcome) as Outcome), usage }
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

/** The compare-and-set that mirrors the one in `abort`: exactly one of the two changes the row. */
async function settleAsCommitted(
  tx: LedgerTx,
  { upload, outcome }: { readonly upload: CommitUpload; readonly outcome: Outcome },
): Promise<void> {
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
  readonly replaced: File | undefined
  readonly ownReserved: number
}

async function moveQuota(tx: LedgerTx, { upload, replaced, ownReserved }: Move): Promise<Usage> {
  const { userId, size, maxFiles } = upload
  const newFiles = replaced === undefined ? 1 : 0
  const { rows } = await sql<Usage>`
    UPDATE quotas
    SET used_bytes = used_bytes - ${replaced?.size ?? 0} + ${size},
        reserved_bytes = reserved_bytes - ${ownReserved},
        file_count = file_count + ${newFiles}
    WHERE user_id = ${userId} AND ${mayCommit(tx, needOf(upload, { size, replaced, ownReserved }))}
    RETURNING ${USAGE_COLUMNS}, ${tx.capacity} AS capacity
  `.execute(tx.db)
  if (rows[0] === undefined) {
    const refused = { requested: size, newFiles, maxFiles, ownReserved }
    throw await refusalReason(tx, { ...upload, ...refused })
  }
  return rows[0]
}

async function putFile({ db }: LedgerTx, file: File): Promise<void> {
  await sql`
    ${INSERT_FILE}
    VALUES
      (${file.userId}, ${file.name}, ${file.version}, ${file.objectKey}, ${file.size},
       ${file.sha256}, ${file.visibility}, ${file.createdAt}, ${file.updatedAt})
    ${REPLACE_FILE}
  `.execute(db)
}
