import { type QueryResult, type RawBuilder, sql } from 'kysely'
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
} from './quota-rule.ts'
import { refusalReason } from './refusal-reason.ts'
import { chunks } from '../../core/async/chunks.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { type Eviction, reservedByEvicting } from './evictable.ts'
import { INSERT_FILE, INSERT_PAST, REPLACE_FILE, USAGE_COLUMNS, usageIn } from './rows.ts'

interface Changes extends Caller {
  readonly changes: readonly FileChange[]
  readonly garbageDelayMs: number
  /** Set for the commit of an upload: its reservation, which the changes release, and the user's file limit. */
  readonly upload?: {
    readonly ownReserved: number
    readonly maxFiles: number
    readonly eviction: Eviction | undefined
  }
  /** Set for a restore. */
  readonly restore?: { readonly maxFiles: number }
  /** Set for the sweep, which also ends files of suspended users. */
  readonly isSweep?: boolean
}

/**
 * The one place where files change. (`sweep/purge.ts` and `rebuild/` have statements for many rows; the commit statement
 * in `postgres/upload-statements.ts` is held to this function by tests.) Under the user's lock, updates the figures,
 * writes the rows in order, records what users are told, and moves each object that no file refers to any more to the
 * history or to garbage, which a trigger counts. Throws if the user may not write, and for an upload or a restore also if
 * the quota refuses it.
 */
export async function applyChanges(tx: LedgerTx, applied: Changes): Promise<Usage> {
  const { userId, userCreatedAt, changes, garbageDelayMs } = applied
  const figures = figuresOf(tx, changes)
  const events = changes.flatMap((change) => eventOf(change) ?? [])
  const values = { userId, userCreatedAt, ...figures, events: events.length, ownReserved: 0 }
  const { rows } = await move(tx, applied, values)
  if (rows[0] === undefined) throw await refusal(tx, applied, figures)
  await discardFiles(tx, { userId, files: changes.flatMap(discardedBy), garbageDelayMs })
  for (const change of changes) {
    const { file, old } = change
    if (discardedBy(change).length > 0) continue
    await writeRow(tx, change)
    if (old === undefined || old.version === file?.version) continue
    const endedAs = file === undefined ? 'deleted' : 'replaced'
    if (becomesPast(tx, change)) await run(tx, insertPast, { ...old, endedAs })
    else await run(tx, insertGarbage, { ...old, garbageDelayMs })
  }
  const usage = usageIn(rows[0])
  await recordChanges(tx, { userId, events, end: rows[0] })
  const before = { ...usage, used: usage.used - figures.usedBytes }
  await noteState(tx, { userId, known: rows[0].state, before, usage })
  return usage
}

async function refusal(
  tx: LedgerTx,
  { userId, userCreatedAt, upload, restore }: Changes,
  { size, newFiles }: ReturnType<typeof figuresOf>,
): Promise<Error> {
  const { maxFiles } = upload ?? restore ?? {}
  const caller = { userId, userCreatedAt }
  if (maxFiles === undefined) {
    return (await inactiveReason(tx, caller)) ?? new TypeError('An active user has no quota')
  }
  const { ownReserved, eviction } = upload ?? {}
  const need = { size, newFiles, ownReserved }
  return await refusalReason(tx, { ...caller, maxFiles }, { need, eviction })
}

/** The change that frees the name, and the bytes, of an expired file. */
export function endExpired(expired: File | undefined): readonly FileChange[] {
  return expired === undefined ? [] : [{ type: 'expired', old: expired }]
}

function figuresOf(rule: Rule, changes: readonly FileChange[]) {
  let [size, usedBytes, files] = [0, 0, 0]
  let [evictedBytes, evictedFiles] = [0, 0]
  let [pastBytes, pastVersions] = [0, 0]
  for (const change of changes) {
    const { type, file, old } = change
    const oldSize = old?.size ?? 0
    size += file?.size ?? 0
    usedBytes += (file?.size ?? 0) - oldSize
    files += (file ? 1 : 0) - (old ? 1 : 0)
    if (type === 'evicted') {
      evictedBytes += oldSize
      evictedFiles += 1
    }
    if (becomesPast(rule, change)) {
      pastBytes += oldSize + OBJECT_OVERHEAD_BYTES
      pastVersions += 1
    }
    if (type === 'restored') {
      pastBytes -= file.size + OBJECT_OVERHEAD_BYTES
      pastVersions -= 1
    }
  }
  const evicted = { evictedBytes, evictedFiles }
  // What the rule compares is before the eviction.
  const growth = Math.max(0, usedBytes + evictedBytes)
  const newFiles = files + evictedFiles
  return { size, usedBytes, files, newFiles, growth, ...evicted, pastBytes, pastVersions }
}

/** Whether the old content becomes history. */
function becomesPast({ historyLifetimeMs }: Rule, change: FileChange): boolean {
  const { file, old } = change
  if (old === undefined || old.version === file?.version) return false
  if (discardedBy(change).length > 0) return false
  return historyLifetimeMs > 0 && old.sha256 !== file?.sha256
}

/** The file that ends without a history. */
function discardedBy({ type, old }: FileChange): readonly File[] {
  return type === 'evicted' || type === 'expired' ? [old] : []
}

interface Discarded {
  readonly userId: UserId
  readonly files: readonly File[]
  readonly garbageDelayMs: number
}

const DISCARDED_AT_ONCE = 250

/** In few statements, because a commit can evict 1,000 files. */
async function discardFiles(
  { db, now }: LedgerTx,
  { userId, files, garbageDelayMs }: Discarded,
): Promise<void> {
  // With the plugin, each number of files would prepare another statement.
  const unprepared = db.withoutPlugins()
  for (const page of chunks(files, DISCARDED_AT_ONCE)) {
    const names = sql.join(page.map(({ name }) => name))
    await sql`DELETE FROM files WHERE user_id = ${userId} AND name IN (${names})`.execute(
      unprepared,
    )
    const objects = page.map(
      ({ objectKey, size }) =>
        sql`(${objectKey}, ${now} + ${bigint(garbageDelayMs)}, ${userId}, ${garbageBytes(sql`${size}`)})`,
    )
    await sql`
      INSERT INTO garbage (object_key, not_before, user_id, bytes) VALUES ${sql.join(objects)}
    `.execute(unprepared)
  }
}

/** Runs the one of the statements below whose rule applies. */
function move(
  tx: LedgerTx,
  { upload, restore, isSweep = false }: Changes,
  values: Move & ReturnType<typeof figuresOf>,
): Promise<QueryResult<Usage & FeedEnd>> {
  if (upload?.eviction) {
    return run(tx, moveForEvicting, { ...values, ...upload, ...upload.eviction })
  }
  if (upload) return run(tx, moveForUpload, { ...values, ...upload })
  if (restore) return run(tx, moveForRestore, { ...values, ...restore })
  return run(tx, isSweep ? moveForSweep : moveForOwner, values)
}

type Move = Caller &
  Pick<NeedValues, 'ownReserved'> & {
    readonly usedBytes: number
    readonly files: number
    readonly events: number
    readonly pastBytes: number
    readonly pastVersions: number
  }

function moveForOwner(slot: Slot<Move>, rule: Rule) {
  return moveFigures(slot, rule, isActive(bigint(slot('userCreatedAt'))))
}

function moveForSweep(slot: Slot<Move>, rule: Rule) {
  return moveFigures(slot, rule, sql`1 = 1`)
}

function moveForUpload(slot: Slot<Move & NeedValues>, rule: Rule) {
  return moveFigures(slot, rule, mayCommit(rule, needFrom(slot)))
}

interface Evicted extends Eviction {
  readonly evictedBytes: number
  readonly evictedFiles: number
}

function moveForEvicting(slot: Slot<Move & NeedValues & Evicted>, rule: Rule) {
  const evictable = {
    bytes: bigint(slot('evictedBytes')),
    files: bigint(slot('evictedFiles')),
    reserved: reservedByEvicting(slot),
  }
  return moveFigures(slot, rule, mayCommit(rule, { ...needFrom(slot), evictable }))
}

function moveForRestore(slot: Slot<Move & NeedValues>, rule: Rule) {
  return moveFigures(slot, rule, mayRestore(rule, needFrom(slot)))
}

function moveFigures(
  slot: Slot<Move>,
  rule: Rule,
  mayMove: RawBuilder<boolean>,
): RawBuilder<Usage & FeedEnd> {
  const past = { bytes: slot('pastBytes'), versions: slot('pastVersions') }
  return sql<Usage & FeedEnd>`
    UPDATE quotas
    SET used_bytes = used_bytes + ${slot('usedBytes')},
        reserved_bytes = reserved_bytes - ${slot('ownReserved')},
        file_count = file_count + ${slot('files')},
        ${rule.historyLifetimeMs > 0 ? sql`${countHistory(rule, past)},` : sql``}
        ${countChanges(slot, rule)}
    WHERE user_id = ${slot('userId')} AND ${mayMove}
    RETURNING ${USAGE_COLUMNS}, ${rule.capacity} AS capacity, ${FEED_END_COLUMNS}
  `
}

async function writeRow(tx: LedgerTx, { type, file, old }: FileChange): Promise<void> {
  if (file === undefined) await run(tx, removeFile, old)
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
       ${slot('updatedAt')}, ${slot('mediaType')}, ${slot('metadata')}, ${slot('expiresAt')},
       ${slot('isKept')})
    ${REPLACE_FILE}
  `
}

function updateFile(slot: Slot<File & { readonly oldName: string }>) {
  return sql`
    UPDATE files
    SET name = ${slot('name')}, visibility = ${slot('visibility')},
        updated_at = ${slot('updatedAt')}, expires_at = ${slot('expiresAt')}, is_kept = ${slot('isKept')},
        media_type = ${slot('mediaType')}, metadata = ${slot('metadata')}
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
       ${slot('updatedAt')}, ${slot('mediaType')}, ${slot('metadata')}, ${now}, ${slot('endedAs')})
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
