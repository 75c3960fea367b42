import { type RawBuilder, sql } from 'kysely'
import type { EndPosition, HistoryLedger } from '../../core/history/history-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { safeNow } from '../ledger/safe-now.ts'
import { allowanceOf, excessOf, withOverhead } from '../ledger/counted-bytes.ts'
import { capacityByAnyClock, except, type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { type PurgedRow, purgeVersions, ofVersions, versionsToPurge } from './purge-versions.ts'
import { hasOutlived, isOver } from './past-versions.ts'
import { countProtected, PROTECTION_MS } from '../ledger/protection.ts'

export async function listUsersToTrim(
  tx: LedgerTx,
  { except: userIds, limit }: Parameters<HistoryLedger['listUsersToTrim']>[0],
): Promise<readonly UserId[]> {
  const safe = bySafeTime(tx)
  const ofOthers = except(userIds)
  const { rows } = await sql<{ readonly user_id: UserId }>`
    SELECT user_id FROM (
      SELECT user_id FROM quotas WHERE history_excess > 0 ${ofOthers} ORDER BY user_id LIMIT ${limit}
    ) AS beyond
    UNION
    SELECT user_id FROM (
      SELECT user_id FROM history WHERE ${hasOutlived(safe)} ${ofOthers} ORDER BY ended_at LIMIT ${limit}
    ) AS outlived
    UNION
    SELECT user_id FROM (
      SELECT user_id FROM history WHERE ${isOver(safe)} ${ofOthers} ORDER BY expires_at LIMIT ${limit}
    ) AS expired
    UNION
    SELECT user_id FROM (
      SELECT user_id FROM history WHERE ${isReleased(safe)} ${ofOthers} ORDER BY ended_at LIMIT ${limit}
    ) AS released
    LIMIT ${limit}
  `.execute(tx.db)
  return rows.map((row) => row.user_id)
}

/** Of a row of `history`: whether its protection is over. */
function isReleased({ now }: Pick<LedgerTx, 'now'>): RawBuilder<boolean> {
  return sql<boolean>`(is_protected = 1 AND ended_at <= ${now} - ${PROTECTION_MS})`
}

type Trim = Parameters<HistoryLedger['trimHistory']>[0]

export async function trimHistory(tx: LedgerTx, trim: Trim): Promise<number> {
  await lockUser(tx, trim.userId)
  let { limit } = trim
  for (const step of STEPS) {
    while (limit > 0) {
      const handled = await step(tx, { ...trim, limit })
      limit -= handled
      if (handled === 0) break
    }
  }
  return trim.limit - limit
}

async function purgeExpired(tx: LedgerTx, trim: Trim): Promise<number> {
  const safe = bySafeTime(tx)
  const outlived = { ...trim, where: hasOutlived(safe), order: undefined }
  const over = { ...trim, where: isOver(safe), order: sql`expires_at` }
  for (const selected of [outlived, over]) {
    const rows = await versionsToPurge(tx, selected)
    if (rows.length > 0) return await purgeVersions(tx, { ...trim, rows })
  }
  return 0
}

/**
 * Versions whose protection is over stay where the allowance has room for them. What the credential that has ended them
 * had stored makes room for them. The others go, so that they displace none.
 */
async function releaseProtected(tx: LedgerTx, trim: Trim): Promise<number> {
  const { userId, limit } = trim
  const where = isReleased(bySafeTime(tx))
  const rows = await versionsToPurge(tx, { ...trim, where })
  const [first] = rows
  if (first === undefined) return 0
  const figures = await readFigures(byAnyClock(tx), userId)
  let { room } = figures
  const kept = new Set<PurgedRow>()
  for (const row of rows) {
    const bytes = withOverhead(row.size)
    if (bytes > room) continue
    kept.add(row)
    room -= bytes
  }
  if (kept.size > 0) {
    const versions = [...kept].map(({ version }) => version)
    await sql`UPDATE history SET is_protected = 0 WHERE ${ofVersions(versions)}`.execute(tx.db)
    const bytes = [...kept].reduce((sum, row) => sum + withOverhead(row.size), 0)
    await countProtected(byAnyClock(tx), { userId, bytes: -bytes })
    return kept.size
  }
  const bytes = withOverhead(first.size)
  const mayFit = bytes <= figures.allowance
  const stored = mayFit
    ? await chargedTo(tx, { userId, limit, credential: first.ended_by, onlyStored: true })
    : []
  const displaced = worth(stored, bytes - room)
  return await purgeVersions(tx, { ...trim, rows: displaced.length > 0 ? displaced : [first] })
}

/**
 * What narrow credentials have ended or stored goes before what only the account has, so that it displaces none of that.
 * Of several credentials, the one goes first whose versions among the newest ones make up most of the excess, and it
 * loses no more than they hold, in the order of `chargedTo`.
 */
async function purgeNarrow(tx: LedgerTx, trim: Trim): Promise<number> {
  const { excess } = await readFigures(byAnyClock(tx), trim.userId)
  if (excess === 0) return 0
  const { userId, limit } = trim
  const debtor = await findDebtor(tx, { userId, excess })
  if (debtor === undefined) return 0
  const rows = await chargedTo(tx, { userId, limit, credential: debtor.credential })
  return await purgeVersions(tx, { ...trim, rows: worth(rows, Math.min(excess, debtor.bytes)) })
}

/**
 * Oldest end first, of those that are not protected. If it passes over too many that are, it purges none, and the next call
 * continues behind them.
 */
async function purgeOldest(tx: LedgerTx, trim: Trim): Promise<number> {
  const { userId, limit } = trim
  const { excess } = await readFigures(byAnyClock(tx), userId)
  if (excess === 0) return 0
  const start = tx.passedOver.get(userId)
  const behind = start && sql`AND (ended_at, version) > (${start.endedAt}, ${start.version})`
  const oldest = sql`
    FROM history WHERE user_id = ${userId} ${behind ?? sql``} ORDER BY ended_at, version
  `
  const { rows } = await sql<PurgedRow>`
    SELECT version, object_key, size, ended_by FROM (
      SELECT version, object_key, size, ended_by, is_protected
      ${oldest} LIMIT ${MOST_PASSED_OVER}
    ) AS oldest
    WHERE is_protected = 0 LIMIT ${limit}
  `.execute(tx.db)
  if (rows.length === 0) await passOver(tx, { userId, oldest })
  return await purgeVersions(tx, { ...trim, rows: worth(rows, excess) })
}

interface Passed {
  readonly userId: UserId
  readonly oldest: RawBuilder<unknown>
}

async function passOver(tx: LedgerTx, { userId, oldest }: Passed): Promise<void> {
  const { rows } = await sql<EndPosition>`
    SELECT ended_at AS "endedAt", version ${oldest} LIMIT 1 OFFSET ${MOST_PASSED_OVER - 1}
  `.execute(tx.db)
  if (rows[0] !== undefined) return tx.passedOver.set(userId, rows[0])
  tx.passedOver.delete(userId)
  // All are protected, and the figures have drifted: the user would be listed for ever.
  await sql`UPDATE quotas SET history_excess = 0 WHERE user_id = ${userId}`.execute(tx.db)
}

function bySafeTime(tx: LedgerTx): LedgerTx {
  return { ...tx, now: safeNow(tx) }
}

/** The excess by which versions are purged. */
function byAnyClock(tx: LedgerTx): LedgerTx {
  return { ...tx, capacity: capacityByAnyClock(tx) }
}

/** In one transaction. */
const MOST_PASSED_OVER = 20_000

const STEPS = [purgeExpired, releaseProtected, purgeNarrow, purgeOldest] as const

/** The first ones that hold at least as many bytes, or all. */
function worth(rows: readonly PurgedRow[], bytes: number): readonly PurgedRow[] {
  let left = bytes
  return rows.filter((row) => {
    if (left <= 0) return false
    left -= withOverhead(row.size)
    return true
  })
}

interface Figures {
  readonly excess: number
  readonly allowance: number
  /** What the allowance has left for versions that are not protected; negative if there are too many. */
  readonly room: number
}

/** Records, under the user's lock, by how much the history exceeds the allowance. */
async function readFigures(tx: LedgerTx, userId: UserId): Promise<Figures> {
  const { rows } = await sql<Figures>`
    UPDATE quotas SET history_excess = ${excessOf(tx, { bytes: sql`history_bytes` })}
    WHERE user_id = ${userId}
    RETURNING history_excess AS excess, ${allowanceOf(tx)} AS allowance,
      ${allowanceOf(tx)} - history_bytes + history_protected AS room
  `.execute(tx.db)
  return rows[0] ?? { excess: 0, allowance: 0, room: 0 }
}

/** As `readFigures`, after the capacity has changed. */
export async function noteExcess(tx: LedgerTx, userId: UserId): Promise<void> {
  await readFigures(tx, userId)
}

interface Charged {
  readonly userId: UserId
  readonly limit: number
  readonly credential: string | null
  /** Leaves out what others had stored. */
  readonly onlyStored?: boolean
}

/**
 * Of what is charged to a narrow credential, what it had both stored and ended comes first, then what it had only
 * stored, then what others had stored, each oldest end first.
 */
async function chargedTo(
  tx: LedgerTx,
  { userId, limit, credential, onlyStored = false }: Charged,
): Promise<readonly PurgedRow[]> {
  const ofRank = onlyStored ? sql`AND ${RANK} < 2` : sql``
  const where = sql`${CREDENTIAL} = ${credential} ${ofRank} AND ${CHARGED}`
  const order = sql`${RANK}, ended_at, version`
  return await versionsToPurge(tx, { userId, limit, where, order })
}

interface Debtor {
  readonly credential: string
  readonly bytes: number
}

/** The credential to which most bytes are charged of the newest versions that make up the excess, and how many. */
async function findDebtor(
  { db }: LedgerTx,
  { userId, excess }: { readonly userId: UserId; readonly excess: number },
): Promise<Debtor | undefined> {
  for (const limit of NEWEST) {
    const { rows } = await sql<{ readonly credential: string; readonly size: number }>`
      SELECT ${CREDENTIAL} AS credential, size FROM history WHERE user_id = ${userId} AND ${CHARGED}
      ORDER BY ended_at DESC, version DESC LIMIT ${limit}
    `.execute(db)
    const debts = new Map<string, number>()
    let left = excess
    for (const row of rows) {
      if (left <= 0) break
      debts.set(row.credential, (debts.get(row.credential) ?? 0) + withOverhead(row.size))
      left -= withOverhead(row.size)
    }
    if (left > 0 && rows.length === limit && limit !== NEWEST.at(-1)) continue
    const [most] = [...debts].toSorted(([, one], [, other]) => other - one)
    return most && { credential: most[0], bytes: most[1] }
  }
  return undefined
}

/** How many of the newest versions are looked at: mostly few are more than the allowance. */
const NEWEST: readonly number[] = [32, 1_000]

/** The narrow credential to which a version is charged: the one that has ended it or, if the account has, stored it. */
const CREDENTIAL = sql<string>`COALESCE(ended_by, stored_by)`

/** As in the index: 0 for what it has both stored and ended, 1 for what the account has ended, 2 for content of others. */
const RANK = sql`CASE WHEN ended_by IS NULL THEN 1 WHEN ended_by = stored_by THEN 0 ELSE 2 END`

/** The condition of the indexes. */
const CHARGED = sql`${CREDENTIAL} IS NOT NULL AND is_protected = 0`
