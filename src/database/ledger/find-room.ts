import type { File } from '../../core/files/file.ts'
import { type Share, shareShortage } from './device-share.ts'
import type { Eviction, Room, Shortage } from './evictable.ts'
import { type Candidate, findOldest, upTo } from './eviction-search.ts'
import { capacityByAnyClock, type LedgerTx } from './ledger-sql.ts'
import { type NeedValues, shortageOf } from './quota-rule.ts'
import { readFiles } from './read-files.ts'

interface Wanted {
  readonly need: NeedValues
  /** Of an upload of a device. */
  readonly share: Share | undefined
}

/** What the upload would evict; `undefined` if it may evict nothing. Repeat what calls it by `untilFound`. */
export async function findRoom(
  tx: LedgerTx,
  wanted: Wanted,
  eviction: Eviction | undefined,
): Promise<Room | undefined> {
  return eviction && (await search(tx, wanted, eviction)).room
}

/** All that the upload may evict, whatever it needs. */
export async function findAllRoom(tx: LedgerTx, room: Room): Promise<Room> {
  if (room.isAll) return room
  const found = await findOldest(tx, { eviction: room, shortage: ALL })
  return { ...room, ...measure(found), isAll: true }
}

/** The bytes of all files of the device that the upload may evict. */
export async function findOwnRoom(tx: LedgerTx, room: Room, { deviceId }: Share): Promise<number> {
  const found = await findOldest(tx, { eviction: { ...room, deviceId }, shortage: ALL })
  return measure(found).evictableBytes
}

/**
 * As `findRoom`, with the files: none if all that may be evicted do not make up for the shortage. Under the user's
 * lock.
 */
export async function makeRoom(
  tx: LedgerTx,
  wanted: Wanted,
  eviction: Eviction,
): Promise<{ readonly room: Room; readonly evicted: readonly File[] }> {
  const { room, found } = await search(tx, wanted, eviction)
  return { room, evicted: room.isAll ? [] : await readAll(tx, eviction, found) }
}

const ALL: Shortage = { bytes: Infinity, files: Infinity }
const NONE: Shortage = { bytes: 0, files: 0 }

/**
 * Finds files of the upload's device until its share fits, and then others until the account does. Nothing is found for
 * the bytes of grants that have ended only by a clock that is not trusted: the rule refuses the file.
 */
async function search(tx: LedgerTx, { need, share }: Wanted, eviction: Eviction) {
  const context = { ...tx, capacity: capacityByAnyClock(tx) }
  const { rows } = await shortageOf(context, need, eviction).execute(tx.db)
  const [shortage = NONE] = rows
  const own = await findOwn(tx, share, eviction)
  const others = await findOthers(tx, { eviction, shortage, own: own.found })
  const found = [...own.found, ...others]
  const deviceId = share?.deviceId
  const { evictableBytes, evictableFiles } = measure(found)
  const { evictableBytes: ownBytes } = measure(found.filter((each) => each.deviceId === deviceId))
  const isAll = own.isAll || evictableBytes < shortage.bytes || evictableFiles < shortage.files
  const room: Room = { ...eviction, evictableBytes, evictableFiles, ownBytes, isAll }
  return { found, room }
}

async function findOwn(tx: LedgerTx, share: Share | undefined, eviction: Eviction) {
  const bytes = share === undefined ? 0 : shareShortage(share)
  if (share === undefined || bytes <= 0) return { found: [], isAll: false }
  const { deviceId } = share
  const found = await findOldest(tx, {
    eviction: { ...eviction, deviceId },
    shortage: { bytes, files: 0 },
  })
  return { found, isAll: measure(found).evictableBytes < bytes }
}

interface Others {
  readonly eviction: Eviction
  readonly shortage: Shortage
  /** What is evicted already. */
  readonly own: readonly Candidate[]
}

/** What the account lacks beyond the device's files. They may be among the oldest, so as much more is searched. */
async function findOthers(tx: LedgerTx, { eviction, shortage, own }: Others) {
  const freed = measure(own)
  const left = {
    bytes: shortage.bytes - freed.evictableBytes,
    files: shortage.files - freed.evictableFiles,
  }
  if (own.length === 0) return await findOldest(tx, { eviction, shortage })
  if (left.bytes <= 0 && left.files <= 0) return []
  const found = await findOldest(tx, {
    eviction,
    shortage: {
      bytes: Math.max(0, left.bytes) + freed.evictableBytes,
      files: Math.max(0, left.files) + freed.evictableFiles,
    },
  })
  const names = new Set(own.map(({ named }) => named))
  return upTo(
    left,
    found.filter(({ named }) => !names.has(named)),
  )
}

function measure(found: readonly Candidate[]) {
  const evictableBytes = found.reduce((sum, { freed }) => sum + freed, 0)
  return { evictableBytes, evictableFiles: found.length }
}

/** In their order. */
async function readAll(
  tx: LedgerTx,
  { userId }: Eviction,
  found: readonly Candidate[],
): Promise<readonly File[]> {
  const names = found.map(({ named }) => named)
  const rows = await readFiles(tx, { userId, names })
  const files = new Map(rows.map(({ now: _now, ...file }) => [file.name, file]))
  return names.flatMap((name) => files.get(name) ?? [])
}
