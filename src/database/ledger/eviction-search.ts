import { setImmediate } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import { NEVER } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import { safeNow } from './safe-now.ts'
import type { Slot } from '../statement.ts'
import type { Eviction, Shortage } from './evictable.ts'
import { COUNTED_BYTES } from './counted-bytes.ts'
import { bigint, type LedgerTx, type SqlContext, run } from './ledger-sql.ts'
import { isSame, type Position } from './unfinished-searches.ts'

/** A file that may be evicted. */
export interface Candidate {
  readonly named: FileName
  readonly age: number
  readonly deviceId: string | null
  /** What its end frees. */
  readonly freed: number
}

/** What one commit evicts, at most. */
const MAX_EVICTED = 1_000

/** Rows of an index that one transaction reads: first few, because the oldest files mostly have the prefix. */
const FIRST_READ = 64
export const READ_BY_AGE = 5_000
export const READ_BY_NAME = 2_000

/**
 * The files that make up for the shortage, first those that have expired by the safe time, kept or not, then the others
 * by `updated_at`, without those that are kept. If all are too little, all that may be evicted. Not among them are the
 * file of the upload's own name, and those that other uploads are about to replace.
 *
 * For the share of a device, only its files, which have indexes of their own. No index has the files of a prefix by age.
 * If there are few of them, they are read by name, and otherwise all files of the user by age, of which one transaction
 * reads at most `READ_BY_AGE`. If none has the prefix, throws `SEARCH_UNFINISHED`, and the next transaction continues
 * (`untilFound`). From the first one with the prefix on, only as many are considered. Needs a transaction.
 */
export async function findOldest(
  tx: LedgerTx,
  { eviction, shortage }: { readonly eviction: Eviction; readonly shortage: Shortage },
): Promise<readonly Candidate[]> {
  if (isMade(shortage, [])) return []
  await tx.keepIndexOrder?.execute(tx.db)
  const { selectExpired, selectByName, selectLast } = statementsOf(eviction)
  const { rows: expired } = await run(tx, selectExpired, eviction)
  const withExpired = (current: readonly Candidate[]) =>
    upTo(shortage, [...expired, ...current].slice(0, MAX_EVICTED))
  if (isMade(shortage, expired)) return withExpired([])

  const start = tx.searches.startOf(eviction)
  const first = await readByAge(tx, { eviction, start, rows: FIRST_READ })
  if (isMade(shortage, withExpired(first.evictable))) return withExpired(first.evictable)
  if (await isFewByName(tx, eviction)) {
    return withExpired((await run(tx, selectByName, eviction)).rows)
  }

  const rows = READ_BY_AGE
  const { oldest, evictable } = await readByAge(tx, { eviction, start, rows })
  const found = withExpired(evictable)
  if (isMade(shortage, found)) return found
  const [end] = (await run(tx, selectLast, { ...eviction, ...start, rows })).rows
  if (end === undefined) {
    if (!tx.searches.restart(eviction)) return found
  } else {
    const next = evictable[0] ?? end
    if (isSame(next, start)) return found
    // Another upload may not spare what this one does, so its search must not begin behind that.
    const isOwn = oldest !== undefined && oldest !== evictable[0]
    tx.searches.continue(eviction, next, { isOwn })
  }
  throw new AppError('unavailable', 'The search for files to evict takes too long.', {
    cause: SEARCH_UNFINISHED,
    dependency: 'database',
  })
}

const SEARCH_UNFINISHED = Symbol('search unfinished')

/** Repeats a transaction that may evict until its search is finished. Between two, others run. */
export async function untilFound<T>(transaction: () => Promise<T>): Promise<T> {
  for (let searches = 1; ; searches++) {
    try {
      return await transaction()
    } catch (error) {
      const isUnfinished = error instanceof AppError && error.cause === SEARCH_UNFINISHED
      if (!isUnfinished || searches === MAX_SEARCHES) throw error
    }
    await setImmediate()
  }
}

/** Enough for 5 million files. */
const MAX_SEARCHES = 1_000

function isMade({ bytes, files }: Shortage, found: readonly Candidate[]): boolean {
  return found.length >= files && found.reduce((sum, { freed }) => sum + freed, 0) >= bytes
}

/** As many as are needed; all if they are too few. */
export function upTo(shortage: Shortage, found: readonly Candidate[]): readonly Candidate[] {
  let { bytes } = shortage
  let count = 0
  for (const { freed } of found) {
    if (bytes <= 0 && count >= shortage.files) break
    bytes -= freed
    count += 1
  }
  return found.slice(0, count)
}

const CANDIDATE = sql`
  files.name AS named, files.updated_at AS age, files.device_id AS "deviceId", ${COUNTED_BYTES} AS freed
`

/** Whether the names with the prefix are few. */
async function isFewByName(tx: LedgerTx, eviction: Eviction): Promise<boolean> {
  const { rows } = await run(tx, statementsOf(eviction).countNames, eviction)
  return rows[0] !== undefined && rows[0].names <= READ_BY_NAME
}

type Statements = ReturnType<typeof statements>

/** Constants, so that each statement is compiled once. */
const OF_ALL = statements({ isOfDevice: false })
const OF_DEVICE = statements({ isOfDevice: true })

function statementsOf({ deviceId }: Eviction): Statements {
  return deviceId === null ? OF_ALL : OF_DEVICE
}

function statements({ isOfDevice }: { readonly isOfDevice: boolean }) {
  const hasPrefix = (slot: Slot<Eviction>): RawBuilder<unknown> => sql`
    ${ofOwner(slot)} AND files.name >= ${slot('prefix')} AND files.name < ${slot('prefixEnd')}
  `
  const ofOwner = (slot: Slot<Eviction>): RawBuilder<unknown> =>
    isOfDevice
      ? sql`files.user_id = ${slot('userId')} AND files.device_id = ${slot('deviceId')}`
      : sql`files.user_id = ${slot('userId')}`

  /** SQLite enters the index by the first bound. The last condition is that of the index, and holds for every file. */
  const isFrom = (slot: Slot<ByAgeValues>): RawBuilder<unknown> => sql`
    ${ofOwner(slot)} AND (files.updated_at, files.name) >= (${bigint(slot('age'))}, ${slot('named')})
    ${isOfDevice ? sql`` : sql`AND files.updated_at >= 0`}
  `
  return {
    selectExpired: (slot: Slot<Eviction>, context: SqlContext) => {
      const safe = safeNow(context)
      return sql<Candidate>`
        SELECT ${CANDIDATE} FROM (
          SELECT * FROM files
          WHERE files.user_id = ${slot('userId')} AND files.expires_at < ${sql.lit(NEVER)}
            AND files.expires_at <= ${safe}
          ORDER BY files.expires_at LIMIT ${sql.lit(READ_BY_NAME)}
        ) AS files
        WHERE ${hasPrefix(slot)} AND NOT ${isSpared(safe, slot)}
        ORDER BY files.updated_at, files.name LIMIT ${sql.lit(MAX_EVICTED)}
      `
    },

    countNames: (slot: Slot<Eviction>) =>
      sql<{ readonly names: number }>`
        SELECT COUNT(*) AS names FROM (
          SELECT 1 FROM files WHERE ${hasPrefix(slot)} LIMIT ${sql.lit(READ_BY_NAME + 1)}
        ) AS found
      `,

    selectByName: (slot: Slot<Eviction>, context: SqlContext) => {
      const safe = safeNow(context)
      return sql<Candidate>`
        SELECT ${CANDIDATE} FROM (
          SELECT * FROM files WHERE ${hasPrefix(slot)}
          ORDER BY files.name LIMIT ${sql.lit(READ_BY_NAME)}
        ) AS files
        WHERE ${isCurrent(safe)} AND NOT ${isSpared(safe, slot)}
        ORDER BY files.updated_at, files.name LIMIT ${sql.lit(MAX_EVICTED)}
      `
    },

    selectByAge: (slot: Slot<ByAgeValues>, context: SqlContext) => {
      const safe = safeNow(context)
      return sql<Candidate & { readonly spared: number }>`
        WITH oldest AS MATERIALIZED (
          SELECT files.user_id, files.name FROM files WHERE ${isFrom(slot)}
          ORDER BY files.updated_at, files.name LIMIT ${bigint(slot('rows'))}
        )
        SELECT ${CANDIDATE}, CASE WHEN ${isSpared(safe, slot)} THEN 1 ELSE 0 END AS spared
        FROM oldest CROSS JOIN files
        WHERE oldest.name >= ${slot('prefix')} AND oldest.name < ${slot('prefixEnd')}
          AND files.user_id = oldest.user_id AND files.name = oldest.name AND ${isCurrent(safe)}
        ORDER BY files.updated_at, files.name LIMIT ${sql.lit(MAX_EVICTED)}
      `
    },

    /** The last file of such a read; `undefined` if there was none behind it. */
    selectLast: (slot: Slot<ByAgeValues>) =>
      sql<Position>`
        SELECT files.updated_at AS age, files.name AS named FROM files WHERE ${isFrom(slot)}
        ORDER BY files.updated_at, files.name LIMIT 1 OFFSET ${bigint(slot('rows'))} - 1
      `,
  } as const
}

interface ByAge {
  readonly eviction: Eviction
  readonly start: Position
  readonly rows: number
}

interface ByAgeValues extends Eviction, Position {
  readonly rows: number
}

/** Reads only the index, and of the names with the prefix also the file. */
async function readByAge(tx: LedgerTx, { eviction, start, rows: most }: ByAge) {
  const { selectByAge } = statementsOf(eviction)
  const { rows } = await run(tx, selectByAge, { ...eviction, ...start, rows: most })
  return {
    /** Also if this upload spares it. */
    oldest: rows[0],
    evictable: rows.filter(({ spared }) => spared === 0),
  }
}

function isSpared(safe: RawBuilder<number>, slot: Slot<Eviction>): RawBuilder<unknown> {
  // Not correlated, so that it is read once.
  const beingReplaced = sql`
    SELECT uploads.name FROM uploads
    WHERE uploads.user_id = ${slot('userId')} AND uploads.state = 'pending'
      AND uploads.lease_until > ${safe}
  `
  return sql`(files.name = ${slot('name')} OR files.name IN (${beingReplaced}))`
}

function isCurrent(safe: RawBuilder<number>): RawBuilder<unknown> {
  return sql`files.expires_at > ${safe} AND files.is_kept = 0`
}
