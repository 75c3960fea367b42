import { type RawBuilder, sql } from 'kysely'
import { eventOf } from '../../core/changes/change.ts'
import type { FileChange } from '../../core/files/change.ts'
import type { File } from '../../core/files/file.ts'
import type { PastVersion } from '../../core/history/past-version.ts'
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
import {
  countHistory,
  garbageBytes,
  mayCommit,
  mayRestore,
  needFrom,
  type NeedValues,
  OBJECT_OVERHEAD_BYTES,
  refusalReason,
} from './quota-rule.ts'
import { INSERT_FILE, INSERT_PAST, REPLACE_FILE, USAGE_COLUMNS, usageIn } from './rows.ts'

interface Changes extends Caller {
  readonly changes: readonly FileChange[]
  readonly garbageDelayMs: number
  /** Set for the commit of an upload: its reservation, which the changes release, and the user's file limit. */
  readonly upload?: { readonly ownReserved: number; readonly maxFiles: number }
  /** Set for a restore. */
  readonly restore?: { readonly maxFiles: number }
}

/**
 * The one place where files change. (`sweep/purge.ts` and `rebuild/` have statements for many rows; the commit statement
 * in `postgres/upload-statements.ts` is held to this function by tests.) Under the user's lock, updates the figures,
 * writes the rows in order, records what users are told, and moves each object that no file refers to any more to the
 * history or to garbage, which a trigger counts. Throws if the user may not write, and for an upload or a restore also if
 * the quota refuses it.
 */
export async function applyChanges(tx: LedgerTx, applied: Changes): Promise<Usage> {
  const { changes, garbageDelayMs, upload, restore } = applied
  const { userId } = applied
  const figures = figuresOf(tx, changes)
  const events = changes.flatMap((change) => eventOf(change) ?? [])
  const counted = { ...applied, ...figures, events: events.length, ownReserved: 0 }
  const { rows } = upload
    ? await run(tx, moveForUpload, { ...counted, ...upload })
    : restore
      ? await run(tx, moveForRestore, { ...counted, ...restore })
      : await run(tx, moveForOwner, counted)
  if (rows[0] === undefined) {
    const limits = upload ?? restore
    throw limits === undefined
      ? ((await inactiveReason(tx, applied)) ?? new TypeError('An active user has no quota'))
      : await refusalReason(tx, { ...applied, ...limits, ...figures, requested: figures.size })
  }
  for (const change of changes) {
    const { file, old } = change
    await writeRow(tx, change)
    if (old === undefined || old.version === file?.version) continue
    const endedAs = file === undefined ? 'deleted' : 'replaced'
    if (isKept(tx, change)) await run(tx, insertPast, { ...old, endedAs })
    else await run(tx, insertGarbage, { ...old, garbageDelayMs })
  }
  const usage = usageIn(rows[0])
  await recordChanges(tx, { userId, events, end: rows[0] })
  const before = { ...usage, used: usage.used - figures.usedBytes }
  await noteState(tx, { userId, known: rows[0].state, before, usage })
  return usage
}

function figuresOf(rule: Rule, changes: readonly FileChange[]) {
  let [size, usedBytes, newFiles] = [0, 0, 0]
  let [pastBytes, pastVersions] = [0, 0]
  for (const change of changes) {
    const { type, file, old } = change
    const oldSize = old?.size ?? 0
    size += file?.size ?? 0
    usedBytes += (file?.size ?? 0) - oldSize
    newFiles += (file ? 1 : 0) - (old ? 1 : 0)
    if (isKept(rule, change)) {
      pastBytes += oldSize + OBJECT_OVERHEAD_BYTES
      pastVersions += 1
    }
    if (type === 'restored') {
      pastBytes -= file.size + OBJECT_OVERHEAD_BYTES
      pastVersions -= 1
    }
  }
  const growth = Math.max(0, usedBytes)
  return { size, usedBytes, newFiles, growth, pastBytes, pastVersions }
}

/** Whether the old content becomes history. */
function isKept({ historyLifetimeMs }: Rule, { file, old }: FileChange): boolean {
  if (old === undefined || old.version === file?.version) return false
  return historyLifetimeMs > 0 && old.sha256 !== file?.sha256
}

type Move = Caller &
  Pick<NeedValues, 'ownReserved' | 'newFiles'> & {
    readonly usedBytes: number
    readonly events: number
    readonly pastBytes: number
    readonly pastVersions: number
  }

function moveForOwner(slot: Slot<Move>, rule: Rule) {
  return moveFigures(slot, rule, isActive(bigint(slot('userCreatedAt'))))
}

function moveForUpload(slot: Slot<Move & NeedValues>, rule: Rule) {
  return moveFigures(slot, rule, mayCommit(rule, needFrom(slot)))
}

function moveForRestore(slot: Slot<Move & NeedValues>, rule: Rule) {
  return moveFigures(slot, rule, mayRestore(rule, needFrom(slot)))
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
        ${rule.historyLifetimeMs > 0 ? sql`${countPast(slot, rule)},` : sql``}
        ${countChanges(slot, rule)}
    WHERE user_id = ${slot('userId')} AND ${mayMove}
    RETURNING ${USAGE_COLUMNS}, ${rule.capacity} AS capacity, ${FEED_END_COLUMNS}
  `
}

function countPast(slot: Slot<Move>, rule: Rule): RawBuilder<unknown> {
  return countHistory(rule, {
    bytes: slot('pastBytes'),
    versions: slot('pastVersions'),
  })
}

async function writeRow(tx: LedgerTx, { type, file, old }: FileChange): Promise<void> {
  if (type === 'deleted') await run(tx, removeFile, old)
  else if (type === 'updated') await run(tx, updateFile, { ...file, oldName: old.name })
  else await run(tx, putFile, file)
  if (type === 'restored') await run(tx, removePast, file)
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

function insertPast(slot: Slot<File & Pick<PastVersion, 'endedAs'>>, { now }: Rule) {
  return sql`
    ${INSERT_PAST}
    VALUES
      (${slot('userId')}, ${slot('name')}, ${slot('version')}, ${slot('objectKey')},
       ${slot('size')}, ${slot('sha256')}, ${slot('visibility')}, ${slot('createdAt')},
       ${slot('updatedAt')}, ${now}, ${slot('endedAs')})
  `
}

function removePast(slot: Slot<Pick<File, 'version'>>) {
  return sql`DELETE FROM history WHERE version = ${slot('version')}`
}

function insertGarbage(slot: Slot<File & { readonly garbageDelayMs: number }>, { now }: Rule) {
  return sql`
    INSERT INTO garbage (object_key, not_before, user_id, bytes)
    VALUES (${slot('objectKey')}, ${now} + ${slot('garbageDelayMs')}, ${slot('userId')},
            ${garbageBytes(slot('size'))})
  `
}
