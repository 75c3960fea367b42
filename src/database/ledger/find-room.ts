import type { File } from '../../core/files/file.ts'
import type { Eviction, Room, Shortage } from './evictable.ts'
import { type Candidate, findOldest } from './eviction-search.ts'
import { capacityByAnyClock, type LedgerTx } from './ledger-sql.ts'
import { type NeedValues, shortageOf } from './quota-rule.ts'
import { readFiles } from './read-files.ts'

/** What the upload would evict; `undefined` if it may evict nothing. Repeat what calls it by `untilFound`. */
export async function findRoom(
  tx: LedgerTx,
  need: NeedValues,
  eviction: Eviction | undefined,
): Promise<Room | undefined> {
  return eviction && (await search(tx, need, eviction)).room
}

/** All that the upload may evict, whatever it needs. */
export async function findAllRoom(tx: LedgerTx, room: Room): Promise<Room> {
  return room.isAll
    ? room
    : roomOf({
        eviction: room,
        shortage: ALL,
        found: await findOldest(tx, { eviction: room, shortage: ALL }),
      })
}

/**
 * As `findRoom`, with the files: none if all that may be evicted do not make up for the shortage. Under the user's
 * lock.
 */
export async function makeRoom(
  tx: LedgerTx,
  need: NeedValues,
  eviction: Eviction,
): Promise<{ readonly room: Room; readonly evicted: readonly File[] }> {
  const { room, found } = await search(tx, need, eviction)
  return { room, evicted: room.isAll ? [] : await readAll(tx, eviction, found) }
}

const ALL: Shortage = { bytes: Infinity, files: Infinity }
const NONE: Shortage = { bytes: 0, files: 0 }

/**
 * Nothing is found for the bytes of grants that have ended only by a clock that is not trusted: the rule refuses the
 * file.
 */
async function search(tx: LedgerTx, need: NeedValues, eviction: Eviction) {
  const context = { ...tx, capacity: capacityByAnyClock(tx) }
  const { rows } = await shortageOf(context, need, eviction).execute(tx.db)
  const [shortage = NONE] = rows
  const found = await findOldest(tx, { eviction, shortage })
  return { found, room: roomOf({ eviction, shortage, found }) }
}

interface Found {
  readonly eviction: Eviction
  readonly shortage: Shortage
  readonly found: readonly Candidate[]
}

function roomOf({ eviction, shortage, found }: Found): Room {
  const { userId, version, prefix, prefixEnd, name } = eviction
  const evictableBytes = found.reduce((sum, { freed }) => sum + freed, 0)
  const evictableFiles = found.length
  const isAll = evictableBytes < shortage.bytes || evictableFiles < shortage.files
  return { userId, version, prefix, prefixEnd, name, evictableBytes, evictableFiles, isAll }
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
