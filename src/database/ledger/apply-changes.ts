import { type QueryResult, type RawBuilder, sql } from 'kysely'
import { eventOf } from '../../core/changes/change.ts'
import type { FileChange } from '../../core/files/file-change.ts'
import { countedBytes, type File } from '../../core/files/file.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { Usage } from '../../core/users/account-ledger.ts'
import type { Actor, Caller } from '../../core/users/caller.ts'
import {
  type Counted,
  countChanges,
  FEED_END_COLUMNS,
  type FeedEnd,
  noteState,
  recordChanges,
} from '../changes/record.ts'
import { safeNow } from './safe-now.ts'
import type { Slot } from '../statement.ts'
import {
  bigint,
  inactiveReason,
  isActive,
  isNotDeleted,
  type LedgerTx,
  type SqlContext,
  run,
} from './ledger-sql.ts'
import { countHistory, withOverhead } from './counted-bytes.ts'
import { mayCommit, fitsQuota, needFrom, type NeedValues } from './quota-rule.ts'
import { refusalReason } from './refusal-reason.ts'
import { evictableIn, type Room } from './evictable.ts'
import { becomesPast } from './changed-rows.ts'
import { fitsShare, type Share, shareOf } from './device-share.ts'
import { countDevices, deviceChanges } from './device-usage.ts'
import { dateChanges, type DatedChanges, freedDate, raiseFreedAt } from './dates.ts'
import { USAGE_COLUMNS, usageIn } from './rows.ts'
import { writeRows } from './write-rows.ts'

interface Changes extends Actor {
  readonly changes: readonly FileChange[]
  /** The time by the clock. */
  readonly now: number
  /** Set for the commit of an upload: its reservation, which the changes release. */
  readonly upload?:
    | {
        readonly version: Version
        readonly reserved: number
        /** Of the share of its device. */
        readonly deviceReserved: number
        /** The narrow credential that has begun it. */
        readonly credential: string | null
        /** Set if it may evict: what `changes` evict, or all that it may if that is too little. */
        readonly room: Room | undefined
      }
    | undefined
  /** Set for those who may also end files of a suspended user. The sweep has found the user itself. */
  readonly by?: 'operator' | 'sweep' | undefined
}

/**
 * The one place where files change. (`sweep/purge.ts` and `rebuild/` have statements for many rows; the commit
 * statement in `uploads/commit-statement.ts` is held to this function by tests.) Under the user's lock, updates the
 * figures, gives the files their dates (`dates.ts`), writes the rows, records what users are told, and moves each
 * object that no file refers to any more to the history or to garbage, which a trigger counts. Throws if the user may
 * not write, and for an upload or a restore also if the quota refuses it. The quota is compared with what all changes
 * together leave.
 */
export async function applyChanges(tx: LedgerTx, applied: Changes): Promise<Applied> {
  const { userId, userCreatedAt, credential, now, upload, by } = applied
  const changes = await withCertainty(tx, applied.changes)
  const figures = figuresOf(tx, changes)
  const events = changes.flatMap((change) => eventOf(change) ?? [])
  const refusedShare = await findRefusedShare(tx, applied)
  if (refusedShare !== undefined) throw await refusal(tx, applied, { figures, share: refusedShare })
  const values = {
    userId,
    userCreatedAt,
    ...figures,
    events: events.length,
    now,
    freedAt: freedDate(changes),
    ownReserved: upload?.reserved ?? 0,
    credential: bearerOf(applied),
  }
  const { rows } = await move(tx, { upload, by }, values)
  if (rows[0] === undefined) throw await refusal(tx, applied, { figures })
  const { at } = rows[0]
  const { changes: made, dated } = dateChanges(changes, rows[0])
  await writeRows(tx, { userId, changes: made, credential, at })
  await countDevices(tx, userId, deviceChanges(changes))
  const usage = usageIn(rows[0])
  await recordChanges(tx, { userId, events, end: rows[0], now })
  const before = { ...usage, used: usage.used - figures.usedBytes }
  await noteState(tx, { userId, known: rows[0].state, before, usage, now, isDated: true })
  return { usage, dated }
}

/** The narrow credential whose share of the limits holds. */
function bearerOf({ upload, credential }: Changes): string | null {
  return upload === undefined ? (credential ?? null) : upload.credential
}

/** Whether files are restored or metadata grow, for which there must be room. */
function isGrowth({ growth, newFiles }: Pick<Figures, 'growth' | 'newFiles'>): boolean {
  return growth > 0 || newFiles > 0
}

export interface Applied extends Pick<DatedChanges, 'dated'> {
  readonly usage: Usage
}

/**
 * The first share that the changes exceed, of the devices whose files grow by them (I16). What they evict is compared as
 * for the account.
 */
async function findRefusedShare(tx: LedgerTx, applied: Changes): Promise<Share | undefined> {
  const { userId, changes, upload, by } = applied
  if (by !== undefined) return undefined
  const evicted = deviceChanges(changes.filter(({ type }) => type === 'evicted'))
  for (const change of deviceChanges(changes.filter(({ type }) => type !== 'evicted'))) {
    const { deviceId, bytes, files: newFiles } = change
    if (bytes <= 0 && newFiles <= 0) continue
    const device = { userId, deviceId, version: upload?.version ?? '' } as const
    const need = { growth: Math.max(0, bytes), newFiles, ownReserved: upload?.deviceReserved ?? 0 }
    const share = await shareOf(tx, device, need)
    const freed = evicted.find((each) => each.deviceId === deviceId)?.bytes ?? 0
    if (!fitsShare(share, upload?.room && -freed)) return share
  }
  return undefined
}

interface Refusal {
  readonly figures: Figures
  readonly share?: Share
}

async function refusal(
  tx: LedgerTx,
  applied: Changes,
  { figures, share }: Refusal,
): Promise<Error> {
  const { userId, userCreatedAt, upload, by } = applied
  if (upload === undefined && share === undefined && !isGrowth(figures)) {
    const byOperator = by === 'operator'
    const reason = await inactiveReason(tx, { userId, userCreatedAt, byOperator })
    return reason ?? new TypeError('An active user has no quota')
  }
  const { reserved: ownReserved, room } = upload ?? {}
  const caller = { userId, userCreatedAt, credential: bearerOf(applied) ?? undefined }
  return await refusalReason(tx, caller, { need: { ...figures, ownReserved }, share, room })
}

/** Tells expired files that have expired by the safe time from the others, whose content must not be destroyed. */
async function withCertainty(
  tx: LedgerTx,
  changes: readonly FileChange[],
): Promise<readonly FileChange[]> {
  if (!changes.some(({ type }) => type === 'expired')) return changes
  const { rows } = await sql<{ readonly safe: number }>`SELECT ${safeNow(tx)} AS safe`.execute(
    tx.db,
  )
  const safe = rows[0]?.safe ?? -Infinity
  return changes.map((change) =>
    change.type === 'expired' ? { ...change, isUncertain: change.old.expiresAt > safe } : change,
  )
}

/** The change that frees the name, and the bytes, of an expired file. */
export function endExpired(expired: File | undefined): readonly FileChange[] {
  return expired === undefined ? [] : [{ type: 'expired', old: expired }]
}

type Figures = ReturnType<typeof figuresOf>

function figuresOf(context: SqlContext, changes: readonly FileChange[]) {
  let [size, usedBytes, files] = [0, 0, 0]
  let [evictedBytes, evictedFiles] = [0, 0]
  let [pastBytes, pastVersions] = [0, 0]
  for (const change of changes) {
    const { type, file, old } = change
    const oldSize = old?.size ?? 0
    const counted = file ? countedBytes(file) : 0
    const oldCounted = old ? countedBytes(old) : 0
    size += counted
    usedBytes += counted - oldCounted
    files += (file ? 1 : 0) - (old ? 1 : 0)
    if (type === 'evicted') {
      evictedBytes += oldCounted
      evictedFiles += 1
    }
    if (becomesPast(context, change)) {
      pastBytes += withOverhead(oldSize)
      pastVersions += 1
    }
    if (type === 'restored') {
      pastBytes -= withOverhead(file.size)
      pastVersions -= 1
    }
  }
  return {
    size,
    usedBytes,
    files,
    // What the rule compares is before the eviction.
    newFiles: files + evictedFiles,
    growth: Math.max(0, usedBytes + evictedBytes),
    evictedBytes,
    evictedFiles,
    pastBytes,
    pastVersions,
  }
}

/** Runs the one of the statements below whose rule applies. */
function move(
  tx: LedgerTx,
  { upload, by }: Pick<Changes, 'upload' | 'by'>,
  values: Move & NeedValues & Figures,
): Promise<QueryResult<Usage & FeedEnd>> {
  if (upload?.room) return run(tx, MOVES.evicting, { ...values, ...upload.room })
  if (upload) return run(tx, MOVES.upload, values)
  if (by === undefined && isGrowth(values)) return run(tx, MOVES.growth, values)
  return run(tx, MOVES[by ?? 'owner'], values)
}

interface Move extends Caller, Counted {
  readonly ownReserved: number
  readonly usedBytes: number
  readonly files: number
  readonly freedAt: number
  readonly pastBytes: number
  readonly pastVersions: number
}

const MOVES = {
  owner: (slot: Slot<Move>, context: SqlContext) =>
    moveFigures(slot, context, isActive(bigint(slot('userCreatedAt')))),
  operator: (slot: Slot<Move>, context: SqlContext) =>
    moveFigures(slot, context, isNotDeleted(bigint(slot('userCreatedAt')))),
  sweep: (slot: Slot<Move>, context: SqlContext) => moveFigures(slot, context, sql`1 = 1`),
  upload: (slot: Slot<Move & NeedValues>, context: SqlContext) =>
    moveFigures(slot, context, mayCommit(context, needFrom(slot))),
  evicting: (slot: Slot<Move & NeedValues & Room>, context: SqlContext) =>
    moveFigures(slot, context, mayCommit(context, needFrom(slot, evictableIn(slot)))),
  growth: (slot: Slot<Move & NeedValues>, context: SqlContext) =>
    moveFigures(slot, context, fitsQuota(context, needFrom(slot))),
} as const

function moveFigures(
  slot: Slot<Move>,
  context: SqlContext,
  mayMove: RawBuilder<boolean>,
): RawBuilder<Usage & FeedEnd> {
  const past = { bytes: slot('pastBytes'), versions: slot('pastVersions') }
  return sql<Usage & FeedEnd>`
    UPDATE quotas
    SET used_bytes = used_bytes + ${slot('usedBytes')},
        reserved_bytes = reserved_bytes - ${slot('ownReserved')},
        file_count = file_count + ${slot('files')},
        ${context.historyLifetimeMs > 0 ? sql`${countHistory(context, past)},` : sql``}
        ${raiseFreedAt(slot('freedAt'))},
        ${countChanges(slot)}
    WHERE user_id = ${slot('userId')} AND ${mayMove}
    RETURNING ${USAGE_COLUMNS}, ${context.capacity} AS capacity, ${FEED_END_COLUMNS}
  `
}
