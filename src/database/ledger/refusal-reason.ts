import { sql } from 'kysely'
import type { AppError } from '../../core/errors.ts'
import {
  type QuotaState,
  type Refused as Refusal,
  type RefusedCaller,
  refusalOf,
} from '../../core/quota/refusal.ts'
import { RETENTION_MS } from '../../core/sweep/sweep-ledger.ts'
import type { Usage } from '../../core/users/account-ledger.ts'
import type { UserRow } from '../schema.ts'
import { inline } from '../statement.ts'
import { evictableIn, type Room } from './evictable.ts'
import { isWithinShare, type Share } from './device-share.ts'
import { findAllRoom, findOwnRoom } from './find-room.ts'
import { bigint, type LedgerTx, runningUploads } from './ledger-sql.ts'
import {
  type Announcement,
  hasRoom,
  mayLeaveGarbage,
  type Need,
  unfinishedUploads,
} from './quota-rule.ts'
import { USAGE_COLUMNS, usageIn } from './rows.ts'

interface Refused {
  readonly need: {
    /** Of the file, in bytes. */
    readonly size: number
    /** How many files more there would be. */
    readonly newFiles: number
    /** Bytes reserved for the file so far; `undefined` if the limit of garbage was not tested. */
    readonly ownReserved?: number | undefined
  }
  /** Of an upload of a device, or one that it exceeds. */
  readonly share?: Share | undefined
  /** Set for a resumable upload. */
  readonly announcement?: Need & Announcement
  /** Set for an upload that evicts. */
  readonly room?: Room | undefined
  /** See `refusalOf`. */
  readonly counted?: Refusal['counted']
}

type StateRow = Usage &
  Pick<UserRow, 'status' | 'created_at'> & {
    readonly uploads: number
    readonly own_uploads: number | null
    readonly own_unfinished: number | null
    readonly garbage_wait_ms: number | null
    readonly has_room: number
    readonly unfinished_count: number
    readonly unfinished_bytes: number
  }

/** Call this under the lock of the failed rule, so that the reason still holds. */
export async function refusalReason(
  tx: LedgerTx,
  caller: RefusedCaller,
  { need, share, announcement, room, counted }: Refused,
): Promise<AppError> {
  const { db, now, capacity, limits } = tx
  const { size: requested, newFiles, ownReserved } = need
  const credential = caller.credential === undefined ? undefined : sql`${caller.credential}`
  const isBounded =
    ownReserved === undefined
      ? sql`1 = 1`
      : mayLeaveGarbage(tx, {
          size: bigint(requested),
          ownReserved: bigint(ownReserved),
          credential: credential === undefined ? sql`NULL` : sql`'narrow'`,
        })
  const whole = room && (await findAllRoom(tx, room))
  const evictable = whole && evictableIn(inline(whole))
  const hasItsRoom =
    announcement === undefined ? sql`1 = 0` : hasRoom(tx, { ...announcement, evictable })
  const unfinished = unfinishedUploads(now, { except: announcement?.version })
  const { rows } = await sql<StateRow>`
    SELECT status, users.created_at, ${USAGE_COLUMNS}, ${capacity} AS capacity,
      ${runningUploads(now)} AS uploads,
      ${credential ? runningUploads(now, credential) : sql`NULL`} AS own_uploads,
      ${credential ? unfinishedUploads(now, { credential }).count : sql`NULL`} AS own_unfinished,
      CASE WHEN NOT ${isBounded} THEN COALESCE(${garbageDueAt} - ${now}, ${sql.lit(SWEEP_MS)}) END
        AS garbage_wait_ms,
      CASE WHEN ${hasItsRoom} THEN 1 ELSE 0 END AS has_room,
      ${unfinished.count} AS unfinished_count, ${unfinished.bytes} AS unfinished_bytes
    FROM quotas JOIN users ON users.id = quotas.user_id
    WHERE quotas.user_id = ${caller.userId} AND status <> 'deleted'
  `.execute(db)
  const ofShare = await stateOfShare(tx, share, room)
  const state = rows[0] && { ...toState(rows[0], whole), share: ofShare }
  return refusalOf({ caller, limits, counted, requested, newFiles, state })
}

/** `undefined` if the file fits the share. */
async function stateOfShare(
  tx: LedgerTx,
  share: Share | undefined,
  room: Room | undefined,
): Promise<QuotaState['share']> {
  if (share === undefined || isWithinShare(share, room)) return undefined
  const { deviceId, limit, used, reserved, ownReserved } = share
  const evictable = room && (await findOwnRoom(tx, room, share))
  return { deviceId, capacity: limit ?? 0, used, reserved: reserved + ownReserved, evictable }
}

/** Without garbage, the history exceeds its allowance until the next sweep. */
const SWEEP_MS = 20_000

/** When the first of the user's garbage may be removed, or the row of the first aborted upload deleted. */
const garbageDueAt = sql<number | null>`(
  SELECT MIN(due) FROM (
    SELECT MIN(not_before) AS due FROM garbage WHERE garbage.user_id = quotas.user_id
    UNION ALL
    SELECT MIN(settled_at) + ${sql.lit(RETENTION_MS)} FROM uploads
    WHERE uploads.user_id = quotas.user_id AND uploads.state = 'aborted'
  ) AS counted
)`

function toState(row: StateRow, room: Room | undefined): Omit<QuotaState, 'share'> {
  return {
    status: row.status,
    createdAt: row.created_at,
    usage: usageIn(row),
    uploads: row.uploads,
    own:
      row.own_uploads === null || row.own_unfinished === null
        ? undefined
        : { uploads: row.own_uploads, unfinished: row.own_unfinished },
    garbageWaitMs: row.garbage_wait_ms ?? undefined,
    hasRoom: row.has_room === 1,
    unfinished: { count: row.unfinished_count, bytes: row.unfinished_bytes },
    evictable: room && { bytes: room.evictableBytes, files: room.evictableFiles },
  }
}
