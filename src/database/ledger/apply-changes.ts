import { type RawBuilder, sql } from 'kysely'
import { eventOf } from '../../core/changes/change.ts'
import type { FileChange } from '../../core/files/change.ts'
import type { File } from '../../core/files/file.ts'
import type { Usage } from '../../core/users/account-ledger.ts'
import type { Caller } from '../../core/users/caller.ts'
import {
  countChanges,
  FEED_END_COLUMNS,
  type FeedEnd,
  noteState,
  recordChanges,
} from '../changes/record.ts'
import type { Slot } from '../statement.ts'
import { bigint, inactiveReason, isActive, type LedgerTx, type Rule, run } from './ledger-sql.ts'
import { garbageBytes, mayCommit, needFrom, type NeedValues, refusalReason } from './quota-rule.ts'
import { INSERT_FILE, REPLACE_FILE, USAGE_COLUMNS, usageIn } from './rows.ts'

interface Changes extends Caller {
  readonly changes: readonly FileChange[]
  readonly garbageDelayMs: number
  /** Set for the commit of an upload: its reservation, which the changes release, and the user's file limit. */
  readonly upload?: { readonly ownReserved: number; readonly maxFiles: number }
}

/**
 * The one place where files change. (`sweep/purge.ts` and `rebuild/` have statements for many rows; the commit statement
 * in `postgres/upload-statements.ts` is held to this function by tests.) Under the user's lock, updates the figures,
 * writes the rows in order, records what users are told, and makes garbage of each object that no file refers to any more; a
 * trigger counts it. Throws if the user may not write, and for an upload also if the quota refuses it.
 */
export async function applyChanges(tx: LedgerTx, applied: Changes): Promise<Usage> {
  const { changes, garbageDelayMs, upload } = applied
  const { userId } = applied
  const figures = figuresOf(changes)
  const events = changes.flatMap((change) => eventOf(change) ?? [])
  const counted = { ...applied, ...figures, events: events.length }
  const { rows } = upload
    ? await run(tx, moveForUpload, { ...counted, ...upload })
    : await run(tx, moveForOwner, { ...counted, ownReserved: 0 })
  if (rows[0] === undefined) {
    throw upload === undefined
      ? ((await inactiveReason(tx, applied)) ?? new TypeError('An active user has no quota'))
      : await refusalReason(tx, { ...applied, ...upload, ...figures, requested: figures.size })
  }
  for (const change of changes) {
    await writeRow(tx, change)
    const { file, old } = change
    if (old === undefined || old.version === file?.version) continue
    await run(tx, insertGarbage, { ...old, garbageDelayMs })
  }
  const usage = usageIn(rows[0])
  await recordChanges(tx, { userId, events, end: rows[0] })
  const before = { ...usage, used: usage.used - figures.usedBytes }
  await noteState(tx, { userId, known: rows[0].state, before, usage })
  return usage
}

function figuresOf(changes: readonly FileChange[]) {
  let [size, usedBytes, newFiles] = [0, 0, 0]
  for (const { file, old } of changes) {
    size += file?.size ?? 0
    usedBytes += (file?.size ?? 0) - (old?.size ?? 0)
    newFiles += (file ? 1 : 0) - (old ? 1 : 0)
  }
  return { size, usedBytes, newFiles, growth: Math.max(0, usedBytes) }
}

type Move = Caller &
  Pick<NeedValues, 'ownReserved' | 'newFiles'> & {
    readonly usedBytes: number
    readonly events: number
  }

function moveForOwner(slot: Slot<Move>, rule: Rule) {
  return moveFigures(slot, rule, isActive(bigint(slot('userCreatedAt'))))
}

function moveForUpload(slot: Slot<Move & NeedValues>, rule: Rule) {
  return moveFigures(slot, rule, mayCommit(rule, needFrom(slot)))
}

function moveFigures(
  slot: Slot<Move>,
  rule: Rule,
  mayMove: RawBuilder<boolean>,
): RawBuilder<Usage & FeedEnd> {
  return sql<Usage & FeedEnd>`
    UPDATE quotas
    SET used_bytes = used_bytes + ${slot('usedBytes')},
        reserved_bytes = reserved_bytes - ${slot('ownReserved')},
        file_count = file_count + ${slot('newFiles')},
        ${countChanges(slot, rule)}
    WHERE user_id = ${slot('userId')} AND ${mayMove}
    RETURNING ${USAGE_COLUMNS}, ${rule.capacity} AS capacity, ${FEED_END_COLUMNS}
  `
}

async function writeRow(tx: LedgerTx, { type, file, old }: FileChange): Promise<void> {
  if (type === 'deleted') await run(tx, removeFile, old)
  else if (type === 'updated') await run(tx, updateFile, { ...file, oldName: old.name })
  else await run(tx, putFile, file)
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

function updateFile(slot: Slot<File & { readonly oldName: string }>) {
  return sql`
    UPDATE files
    SET name = ${slot('name')}, visibility = ${slot('visibility')}, updated_at = ${slot('updatedAt')}
    WHERE user_id = ${slot('userId')} AND name = ${slot('oldName')}
  `
}

function removeFile(slot: Slot<Pick<File, 'userId' | 'name'>>) {
  return sql`DELETE FROM files WHERE user_id = ${slot('userId')} AND name = ${slot('name')}`
}

function insertGarbage(slot: Slot<File & { readonly garbageDelayMs: number }>, { now }: Rule) {
  return sql`
    INSERT INTO garbage (object_key, not_before, user_id, bytes)
    VALUES (${slot('objectKey')}, ${now} + ${slot('garbageDelayMs')}, ${slot('userId')},
            ${garbageBytes(bigint(slot('size')))})
  `
}
