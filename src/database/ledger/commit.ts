import { type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { CommittedUpload, CommitUpload, Usage } from '../../core/ledger/ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import {
  assertPrecondition,
  fileNamed,
  findAccount,
  findUpload,
  type FoundUpload,
  type LedgerTx,
  type Rule,
  run,
  lockUser,
  lostReason,
  uploadLost,
} from './ledger-sql.ts'
import { mayCommit, needFrom, type NeedValues, needValues, refusalReason } from './quota-rule.ts'
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
  await run(tx, putFile, file)
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
  const settled = await run(tx, settleUpload, { ...file, outcome: JSON.stringify(outcome) })
  if (settled.numAffectedRows !== 1n) throw await lostReason(tx, upload)
}

function settleUpload(slot: Slot<File & { readonly outcome: string }>) {
  return sql`
    UPDATE uploads
    SET state = 'committed', settled_at = ${slot('updatedAt')}, outcome = ${slot('outcome')}
    WHERE version = ${slot('version')} AND user_id = ${slot('userId')} AND state = 'pending'
  `
}

interface Move {
  readonly upload: CommitUpload
  readonly replaced: File | undefined
  readonly ownReserved: number
}

async function moveQuota(tx: LedgerTx, { upload, replaced, ownReserved }: Move): Promise<Usage> {
  const { userId, size, maxFiles } = upload
  const values = needValues(upload, { size, replaced, ownReserved })
  const replacedBytes = replaced?.size ?? 0
  const { rows } = await run(tx, moveReserved, { ...values, userId, replacedBytes })
  if (rows[0] === undefined) {
    const refused = { requested: size, newFiles: values.newFiles, maxFiles, ownReserved }
    throw await refusalReason(tx, { ...upload, ...refused })
  }
  return rows[0]
}

type Reserved = NeedValues & { readonly userId: UserId; readonly replacedBytes: number }

function moveReserved(slot: Slot<Reserved>, rule: Rule): RawBuilder<Usage> {
  return sql<Usage>`
    UPDATE quotas
    SET used_bytes = used_bytes - ${slot('replacedBytes')} + ${slot('size')},
        reserved_bytes = reserved_bytes - ${slot('ownReserved')},
        file_count = file_count + ${slot('newFiles')}
    WHERE user_id = ${slot('userId')} AND ${mayCommit(rule, needFrom(slot))}
    RETURNING ${USAGE_COLUMNS}, ${rule.capacity} AS capacity
  `
}

function putFile(slot: Slot<File>) {
  return sql`
    ${INSERT_FILE}
    VALUES
      (${slot('userId')}, ${slot('name')}, ${slot('version')}, ${slot('objectKey')},
       ${slot('size')}, ${slot('sha256')}, ${slot('visibility')}, ${slot('createdAt')},
       ${slot('updatedAt')})
    ${REPLACE_FILE}
  `
}
