import { type RawBuilder, sql } from 'kysely'
import { DEVICE } from '../../core/quota/grants.ts'
import type { File } from '../../core/files/file.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { awaitedOf, type Room } from './evictable.ts'
import { type LedgerTx, run } from './ledger-sql.ts'
import { growthOver } from './quota-rule.ts'

/** What a file asks of the share of its device, as `NeedValues` does of the account. */
export interface ShareNeed {
  readonly growth: number
  readonly ownReserved: number
  /** How many files of the device more there will be. */
  readonly newFiles: number
}

/** It, with the share under the user's lock. In bytes. */
export interface Share extends ShareNeed, Figures {
  readonly deviceId: string
}

interface Figures {
  /** `null` if the whole account is the device's. */
  readonly limit: number | null
  readonly used: number
  /** By other uploads of the device. Of these, `unclaimed` and `awaited` as `unclaimedByOthers` has them. */
  readonly reserved: number
  readonly unclaimed: number
  readonly awaited: number
}

interface OfDevice {
  readonly userId: UserId
  readonly deviceId: string
  /** Of the upload; empty before it has begun. */
  readonly version: Version | ''
}

export async function shareOf(tx: LedgerTx, device: OfDevice, need: ShareNeed): Promise<Share> {
  const { rows } = await run(tx, selectFigures, device)
  if (rows[0] === undefined) throw new TypeError('An aggregate returned no row')
  return { ...rows[0], ...need, deviceId: device.deviceId }
}

interface Upload {
  readonly size: number
  readonly replaced: Replaced | undefined
  readonly ownReserved: number
}

type Replaced = Pick<File, 'size' | 'metadataBytes' | 'deviceId'>

/** A file of another device counts as none. */
export function shareNeed(deviceId: string, { size, replaced, ownReserved }: Upload): ShareNeed {
  const own = replaced?.deviceId === deviceId ? replaced : undefined
  return { growth: growthOver(own, size), ownReserved, newFiles: own === undefined ? 1 : 0 }
}

/** As `shareOf` and `shareNeed`; `undefined` without a device. */
export async function shareOfUpload(
  tx: LedgerTx,
  upload: {
    readonly userId: UserId
    readonly deviceId?: string | null | undefined
    readonly version?: Version | undefined
  },
  sizes: Upload,
): Promise<Share | undefined> {
  const { userId, deviceId, version = '' } = upload
  if (deviceId === undefined || deviceId === null) return undefined
  return await shareOf(tx, { userId, deviceId, version }, shareNeed(deviceId, sizes))
}

/** What must be evicted of the device's files; not positive for none. As `bytesToEvict` of the account. */
export function shareShortage(share: Share): number {
  const { limit, used, reserved, unclaimed, growth } = share
  return limit === null || growth === 0 ? 0 : used + reserved - unclaimed + growth - limit
}

/**
 * Whether the file fits the share (I16), by the rule that `hasRoom` has for the account. `evictable`: of the device, for
 * an upload that evicts.
 */
export function fitsShare(share: Share, evictable: number | undefined): boolean {
  const { limit, used, reserved, awaited, growth, ownReserved, newFiles } = share
  if (limit === null) return true
  if (growth === 0) return newFiles <= 0 || limit > 0
  if (used + reserved + growth <= limit) return true
  if (evictable === undefined) return growth <= ownReserved && used + growth <= limit
  return shareShortage(share) <= evictable && reserved + growth - awaited <= limit
}

/** SQL for `fitsShare` without eviction, of the device's figures. Held to it by the tests of the statements. */
export function fitsShareOf(
  slot: DeviceSlot,
  { growth, ownReserved, newFiles }: Record<keyof ShareNeed, RawBuilder<unknown>>,
): RawBuilder<boolean> {
  return sql<boolean>`(
    SELECT "limit" IS NULL
      OR ${growth} = 0 AND (${newFiles} <= 0 OR "limit" > 0)
      OR ${growth} > 0 AND (
        used + reserved + ${growth} <= "limit"
        OR ${growth} <= ${ownReserved} AND used + ${growth} <= "limit"
      )
    FROM (${selectFigures(slot)}) AS figures
  )`
}

/** As `fitsShare`, with what an upload may evict; without a device, any file does. */
export function isWithinShare(share: Share | undefined, room: Room | undefined): boolean {
  return share === undefined || fitsShare(share, room?.ownBytes)
}

/** SQL for the share of a row of `grants` in bytes, by which `own` is at most what the device grants. */
export const SHARE_BYTES = sql<number | null>`CASE
  WHEN share = 'own' THEN bytes
  WHEN share <> 'all' THEN CAST(share AS BIGINT)
END`

/** Of values that are, or may be, an `OfDevice`. */
type DeviceSlot = Slot<{
  readonly userId: unknown
  readonly deviceId?: unknown
  readonly version: unknown
}>

function selectFigures(slot: DeviceSlot): RawBuilder<Figures> {
  const isOwn = sql`user_id = ${slot('userId')} AND device_id = ${slot('deviceId')}`
  const awaited = awaitedOf(sql`device_reserved`)
  const sum = (bytes: RawBuilder<unknown>) => sql`CAST(COALESCE(SUM(${bytes}), 0) AS BIGINT)`
  return sql<Figures>`
    SELECT (
        SELECT ${SHARE_BYTES} FROM grants
        WHERE user_id = ${slot('userId')} AND source = ${sql.lit(DEVICE)}
          AND reference = ${slot('deviceId')}
      ) AS "limit",
      COALESCE((SELECT used_bytes FROM device_usage WHERE ${isOwn}), 0) AS used,
      ${sum(sql`device_reserved`)} AS reserved, ${sum(awaited)} AS awaited,
      ${sum(sql`CASE WHEN is_evicting = 1 THEN device_reserved ELSE ${awaited} END`)} AS unclaimed
    FROM (
      SELECT device_reserved, is_evicting, (
        SELECT received_bytes FROM resumable_uploads
        WHERE resumable_uploads.version = uploads.version
      ) AS received
      FROM uploads
      WHERE ${isOwn} AND uploads.state = 'pending' AND uploads.version <> ${slot('version')}
    ) AS others
  `
}
