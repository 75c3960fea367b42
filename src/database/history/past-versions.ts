import { type RawBuilder, sql } from 'kysely'
import type {
  EndPosition,
  FindPastVersion,
  ListedVersions,
  ListHistory,
} from '../../core/history/history-ledger.ts'
import type { PastVersion } from '../../core/history/past-version.ts'
import { NEVER } from '../../core/files/file.ts'
import { objectKey, type Version } from '../../core/objects/object-key.ts'
import type { Caller } from '../../core/users/caller.ts'
import {
  bigint,
  isActive,
  type LedgerTx,
  listedOwner,
  type SqlContext,
  run,
} from '../ledger/ledger-sql.ts'
import { VERSION_COLUMNS } from '../ledger/rows.ts'
import { scan } from '../scan.ts'
import type { Slot } from '../statement.ts'

type Lifetime = Pick<LedgerTx, 'now' | 'historyLifetimeMs'>

/** Of a row of `history`: whether it has been there for as long as any version may be. */
export function hasOutlived({ now, historyLifetimeMs }: Lifetime): RawBuilder<boolean> {
  return sql<boolean>`(ended_at <= ${now} - ${historyLifetimeMs})`
}

/** Of a row of `history`: whether its file would have expired. The first condition is that of the indexes. */
export function isOver({ now }: Pick<LedgerTx, 'now'>): RawBuilder<boolean> {
  return sql<boolean>`(expires_at < ${sql.lit(NEVER)} AND expires_at <= ${now})`
}

/** Either. */
function isExpired(lifetime: Lifetime): RawBuilder<number> {
  return sql<number>`CASE WHEN ${hasOutlived(lifetime)} OR ${isOver(lifetime)} THEN 1 ELSE 0 END`
}

type PastRow = Omit<PastVersion, 'expiresAt'>

const PAST_COLUMNS = sql`
  ${VERSION_COLUMNS}, ended_at AS "endedAt", ended_as AS "endedAs", expires_at AS "fileExpiresAt"
`

function toPastVersion({ historyLifetimeMs }: LedgerTx, row: PastRow): PastVersion {
  return { ...row, expiresAt: Math.min(row.endedAt + historyLifetimeMs, row.fileExpiresAt) }
}

/** Keyset pagination, as `listFiles`. */
export async function listHistory(tx: LedgerTx, page: ListHistory): Promise<ListedVersions> {
  const { name, prefix, after, limit, maxScanned } = page
  const versions: PastVersion[] = []
  const scannedTo = await scan<ListedRow, EndPosition>({
    after,
    limit,
    maxScanned,
    read: (part) => readHistory(tx, { ...page, ...part }),
    take: ({ is_expired: expired, ...row }) => {
      const isAsked = name !== undefined || row.name.startsWith(prefix)
      if (isAsked && expired === 0) versions.push(toPastVersion(tx, row))
      return versions.length < limit
    },
    positionAfter: ({ endedAt, version }) => ({ endedAt, version }),
  })
  return { versions, scannedTo }
}

/** The caller's versions after the position. One bound per side, as in `isInRange`. */
async function readHistory(tx: LedgerTx, page: ListHistory): Promise<readonly ListedRow[]> {
  const { name, after, limit } = page
  const from = after && sql`AND (ended_at, version) < (${after.endedAt}, ${after.version})`
  const { rows } = await sql<ListedRow>`
    SELECT ${PAST_COLUMNS}, ${isExpired(tx)} AS is_expired FROM history
    WHERE user_id = ${listedOwner(page)} ${from ?? sql``} AND ended_at > ${tx.now} - ${tx.historyLifetimeMs}
      ${name === undefined ? sql`` : sql`AND name = ${name}`}
    ORDER BY ended_at DESC, version DESC LIMIT ${limit}
  `.execute(tx.db)
  return rows
}

export async function findPastVersion(
  tx: LedgerTx,
  wanted: FindPastVersion,
): Promise<PastVersion | 'gone' | undefined> {
  const found = await findPast(tx, wanted)
  return typeof found === 'object' ? found.past : found
}

export interface FoundPast {
  readonly past: PastVersion
  readonly now: number
}

type ListedRow = PastRow & { readonly is_expired: number }

type FoundRow = ListedRow & { readonly now: number }

export async function findPast(
  tx: LedgerTx,
  wanted: FindPastVersion,
): Promise<FoundPast | 'gone' | undefined> {
  const { userId, userCreatedAt, version } = wanted
  const past = await readPast(tx, { userId, userCreatedAt, versions: [version] })
  const found = past.get(version)
  return found ?? ((await isGarbage(tx, wanted)) ? 'gone' : undefined)
}

interface ReadPast extends Caller {
  readonly versions: readonly Version[]
}

/** Those of the versions that the history has. */
export async function readPast(
  tx: LedgerTx,
  { userId, userCreatedAt, versions }: ReadPast,
): Promise<ReadonlyMap<Version, FoundPast | 'gone'>> {
  if (versions.length === 0) return new Map()
  const wanted = { userId, userCreatedAt, versions: tx.textList.valueOf(versions) }
  const { rows } = await run(tx, selectPast, wanted)
  return new Map(rows.map((row) => [row.version, toFoundPast(tx, row)]))
}

function selectPast(slot: Slot<Caller & { readonly versions: unknown }>, context: SqlContext) {
  return sql<FoundRow>`
    SELECT ${PAST_COLUMNS}, ${context.now} AS now, ${isExpired(context)} AS is_expired
    FROM history
    WHERE ${context.textList.has(slot('versions'), sql`version`)} AND user_id = ${slot('userId')}
      AND ${isActive(bigint(slot('userCreatedAt')), slot('userId'))}
  `
}

function toFoundPast(tx: LedgerTx, found: FoundRow): FoundPast | 'gone' {
  const { is_expired: expired, now, ...row } = found
  if (expired === 1) return 'gone'
  return { past: toPastVersion(tx, row), now }
}

/** Not for another user, although their id is in the key: the next user of the id has none of this garbage. */
export async function isGarbage(
  { db }: LedgerTx,
  { userId, userCreatedAt, version }: FindPastVersion,
): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM garbage WHERE object_key = ${objectKey(userId, version)} AND user_id = ${userId}
      AND ${isActive(sql<number>`${userCreatedAt}`, sql`${userId}`)}
  `.execute(db)
  return rows.length > 0
}
