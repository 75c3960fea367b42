import { sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import { assertReceives, limitsWithin } from '../../core/links/drop-limits.ts'
import {
  type DropLimits,
  expiryWithin,
  type Link,
  type LinkTarget,
  linkNotFound,
  MAX_LINKS,
  ROUNDING_UNITS,
  USE_UNITS,
  type Uses,
} from '../../core/links/link.ts'
import type {
  FoundLink,
  LinkLedger,
  ListLinks,
  NamedLink,
  NewLink,
  UpdateLink,
} from '../../core/links/link-ledger.ts'
import { callerOf } from '../../core/users/caller.ts'
import { explainReached, type Reached, reachedBound } from '../../core/quota/shares.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { heldBy, heldIn, type HeldRow } from '../ledger/held.ts'
import {
  bigint,
  type Clock,
  isActive,
  type LedgerTx,
  lockUser,
  requireActive,
} from '../ledger/ledger-sql.ts'
import { fromRow, type Row, toUser } from '../ledger/rows.ts'
import { isGarbageBoundedForNarrow } from '../ledger/quota-rule.ts'
import { safeNow } from '../ledger/safe-now.ts'
import type { Operations } from '../operations/operation.ts'
import type { LinkRow, UserRow } from '../schema.ts'
import { datesOf, lifetimeOf } from '../auth/lifetime.ts'

export const LINK_OPERATIONS = {
  addLink: { through: 'change', run: addLink, effect: 'grows' },
  findLink: { through: 'queryPrepared', run: findLink, effect: 'reads' },
  listLinks: { through: 'readInOrder', run: listLinks, effect: 'reads' },
  updateLink: { through: 'change', run: updateLink, effect: 'frees' },
  removeLink: { through: 'change', run: removeLink, effect: 'frees' },
  countUses: { through: 'change', run: countUses, effect: 'frees' },
  returnUses: { through: 'change', run: returnUses, effect: 'frees' },
  permitsDrops: { through: 'query', run: permitsDrops, effect: 'reads' },
} as const satisfies Operations<LinkLedger>

async function addLink(tx: LedgerTx, link: NewLink): Promise<Link> {
  const { db } = tx
  const { userId, createdBy, terms } = link
  await lockUser(tx, userId)
  await requireActive(tx, link)
  const { askedMs, maxLifeMs } = link
  const lifetime = await lifetimeOf(tx, { userId, maker: createdBy, askedMs, maxLifeMs })
  await assertBelowLimit(tx, link)
  const { rows } = await sql<LinkColumns>`
    INSERT INTO links (sha256, link_id, user_id, token_id, device_id, credential, kind, name, prefix, label,
      password_hash, max_uses, max_bytes, max_files, created_at, expires_at, maker_ends_at)
    SELECT ${link.sha256}, ${link.linkId}, ${userId}, ${createdBy.tokenId},
      ${createdBy.deviceId ?? null}, ${createdBy.credential ?? null}, ${terms.kind}, ${terms.target.name ?? null},
      ${terms.target.prefix ?? null}, ${terms.label}, ${terms.passwordHash ?? null},
      ${bigint(terms.maxUses ?? sql`NULL`)}, ${bigint(terms.maxBytes ?? sql`NULL`)},
      ${bigint(terms.maxFiles ?? sql`NULL`)}, created_at, expires_at, maker_ends_at
    FROM ${datesOf(tx, lifetime)}
    RETURNING ${LINK_COLUMNS}
  `.execute(db)
  if (rows[0] === undefined) throw new TypeError('INSERT ... RETURNING returned no row')
  return toLink(rows[0])
}

async function assertBelowLimit(tx: LedgerTx, link: NewLink): Promise<void> {
  if ((await reachedLimit(tx, link)) === undefined) return
  const { userId } = link
  await sql`DELETE FROM links WHERE user_id = ${userId} AND NOT ${isUsable({ now: safeNow(tx) })}`.execute(
    tx.db,
  )
  const reached = await reachedLimit(tx, link)
  if (reached === undefined) return
  const detail = explainReached(reached, 'links')
  throw new AppError('link_count_exceeded', detail, { facts: { max_links: reached.bound } })
}

async function reachedLimit(
  { db }: LedgerTx,
  { userId, createdBy: { credential } }: NewLink,
): Promise<Reached | undefined> {
  const { rows } = await sql<HeldRow>`
    SELECT COUNT(*) AS held, ${heldBy(credential)} AS own FROM links WHERE user_id = ${userId}
  `.execute(db)
  return reachedBound(MAX_LINKS, heldIn(rows[0], credential))
}

/** SQL for whether a row of `links` has not expired, and has so many uses left. */
export function isUsable({ now }: Clock, uses = 1) {
  const hasUses = sql`(max_uses IS NULL OR uses + ${uses} <= max_uses)`
  return sql<boolean>`((links.expires_at IS NULL OR links.expires_at > ${now}) AND ${hasUses})`
}

async function findLink(
  tx: LedgerTx,
  sha256: string,
  options?: { readonly evenUsedUp: boolean },
): Promise<FoundLink | undefined> {
  const { rows } = await sql<LinkColumns & OwnerRow>`
    SELECT ${LINK_COLUMNS}, credential, device_id, users.id AS user_id, status,
      users.created_at AS user_created_at
    FROM links JOIN users ON users.id = links.user_id AND users.status = 'active'
    WHERE links.sha256 = ${sha256} AND ${isUsable(tx, options?.evenUsedUp === true ? 0 : 1)}
  `.execute(tx.db)
  const [row] = rows
  if (row === undefined) return undefined
  const { credential, device_id: deviceId, ...found } = row
  const { user_id: id, status, user_created_at: created_at, ...columns } = found
  const link = toLink(columns)
  const owner = callerOf(toUser({ id, status, created_at }))
  return { link, owner, credential: credential ?? link.linkId, deviceId: deviceId ?? undefined }
}

interface OwnerRow extends Pick<LinkRow, 'credential' | 'device_id'> {
  readonly user_id: LinkRow['user_id']
  readonly status: UserRow['status']
  readonly user_created_at: number
}

async function listLinks({ db }: LedgerTx, page: ListLinks): Promise<readonly Link[]> {
  const { userId, userCreatedAt, tokenId, after, limit } = page
  const { rows } = await sql<LinkColumns>`
    SELECT ${LINK_COLUMNS} FROM links
    WHERE user_id = ${userId} AND link_id > ${after ?? ''} ${ofToken(tokenId)}
      AND ${isActive(sql<number>`${userCreatedAt}`, sql`${userId}`)}
    ORDER BY link_id LIMIT ${limit}
  `.execute(db)
  return rows.map(toLink)
}

function ofToken(tokenId: string | undefined) {
  return tokenId === undefined ? sql`` : sql`AND token_id = ${tokenId}`
}

async function updateLink(tx: LedgerTx, change: UpdateLink): Promise<Link> {
  const { userId, linkId, tokenId, label, maxUses, passwordHash, sha256: digest } = change
  await lockUser(tx, userId)
  await requireActive(tx, change)
  const { rows } = await sql<EditedRow>`
    SELECT ${LINK_COLUMNS}, maker_ends_at, ${tx.now} AS now FROM links
    WHERE user_id = ${userId} AND link_id = ${linkId} ${ofToken(tokenId)}
  `.execute(tx.db)
  const [row] = rows
  if (row === undefined) throw linkNotFound()
  const { maker_ends_at: makerEndsAt, now, ...columns } = row
  const link = toLink(columns)
  const { maxBytes, maxFiles } = limitsAfter(link, change)
  const { expiresAt: asked, maxLifeMs } = change
  const expiresAt =
    asked === undefined
      ? link.expiresAt
      : expiryWithin({ asked, now, maxLifeMs, makerEndsAt: makerEndsAt ?? undefined })
  const orNull = (value: number | null | undefined) => bigint(value ?? sql`NULL`)
  const { rows: changed } = await sql<LinkColumns>`
    UPDATE links SET sha256 = COALESCE(${digest ?? null}, sha256), label = ${label ?? link.label},
      expires_at = ${orNull(expiresAt)},
      max_uses = ${orNull(maxUses === undefined ? link.maxUses : maxUses)},
      password_hash = ${(passwordHash === undefined ? link.passwordHash : passwordHash) ?? null},
      max_bytes = ${orNull(maxBytes)}, max_files = ${orNull(maxFiles)}
    WHERE user_id = ${userId} AND link_id = ${linkId}
    RETURNING ${LINK_COLUMNS}
  `.execute(tx.db)
  if (changed[0] === undefined) throw linkNotFound()
  return toLink(changed[0])
}

type EditedRow = LinkColumns & Pick<LinkRow, 'maker_ends_at'> & { readonly now: number }

/** A limit that is not named stays, even if it is no longer permitted. */
function limitsAfter(link: Link, { limits: asked = {}, permitted }: UpdateLink): DropLimits {
  assertReceives(link, asked)
  const { maxBytes, maxFiles } = limitsWithin(asked, permitted)
  return {
    maxBytes: asked.maxBytes === undefined ? link.maxBytes : maxBytes,
    maxFiles: asked.maxFiles === undefined ? link.maxFiles : maxFiles,
  }
}

async function removeLink(tx: LedgerTx, link: NamedLink): Promise<void> {
  const { userId, linkId, tokenId } = link
  await lockUser(tx, userId)
  await requireActive(tx, link)
  const removed = await sql`
    DELETE FROM links WHERE user_id = ${userId} AND link_id = ${linkId} ${ofToken(tokenId)}
  `.execute(tx.db)
  if (removed.numAffectedRows !== 1n) throw linkNotFound()
}

/** As `LinkLedger.countUses`: the only statement of its transaction. */
async function countUses(
  tx: LedgerTx,
  { userId, linkId }: Pick<NamedLink, 'userId' | 'linkId'>,
  { whole, fraction }: Uses,
): Promise<boolean> {
  const sum = sql`(use_fraction + ${bigint(fraction)})`
  const uses = sql`(uses + ${bigint(whole)} + ${sum} / ${bigint(USE_UNITS)})`
  const rest = sql`(${sum} % ${bigint(USE_UNITS)})`
  const fits = sql`(max_uses IS NULL OR ${uses} < max_uses
    OR (${uses} = max_uses AND ${rest} <= ${bigint(ROUNDING_UNITS)}))`
  const counted = await sql`
    UPDATE links SET uses = ${uses}, use_fraction = ${rest}
    WHERE user_id = ${userId} AND link_id = ${linkId} AND ${isUsable(tx)} AND ${fits}
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND status = 'active')
  `.execute(tx.db)
  return counted.numAffectedRows === 1n
}

/** As `LinkLedger.returnUses`: the only statement of its transaction. */
async function returnUses(
  { db }: LedgerTx,
  { userId, linkId }: Pick<NamedLink, 'userId' | 'linkId'>,
  { whole, fraction }: Uses,
): Promise<void> {
  const borrowed = sql`(CASE WHEN use_fraction < ${bigint(fraction)} THEN 1 ELSE 0 END)`
  const uses = sql`(uses - ${bigint(whole)} - ${borrowed})`
  await sql`
    UPDATE links SET uses = ${uses},
      use_fraction = use_fraction - ${bigint(fraction)} + ${borrowed} * ${bigint(USE_UNITS)}
    WHERE user_id = ${userId} AND link_id = ${linkId} AND ${uses} >= 0
  `.execute(db)
}

/** The columns of `LinkColumns`. */
const LINK_COLUMNS = sql`
  link_id AS "linkId", kind, name, prefix, label, password_hash AS "passwordHash",
  max_uses AS "maxUses", uses, use_fraction AS "useFraction", links.created_at AS "createdAt",
  links.expires_at AS "expiresAt", max_bytes AS "maxBytes", max_files AS "maxFiles",
  received_bytes AS "receivedBytes"
`

async function permitsDrops({ db, capacity }: LedgerTx, userId: UserId): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM quotas
    WHERE user_id = ${userId} AND ${isGarbageBoundedForNarrow({ capacity }, NO_FILE)}
  `.execute(db)
  return rows.length > 0
}

const NO_FILE = { size: sql`0`, ownReserved: sql`0` }

type LinkColumns = Row<Omit<Link, 'target'>> & Pick<LinkRow, 'name' | 'prefix'>

function toLink({ name, prefix, ...row }: LinkColumns): Link {
  return { ...fromRow<Omit<Link, 'target'>>(row), target: targetOf({ name, prefix }) }
}

function targetOf({ name, prefix }: Pick<LinkRow, 'name' | 'prefix'>): LinkTarget {
  if (name !== null) return { name }
  if (prefix !== null) return { prefix }
  throw new TypeError('A link has neither a name nor a prefix')
}
