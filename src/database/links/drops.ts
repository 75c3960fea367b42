import { sql } from 'kysely'
import { dropRefusal, type Received } from '../../core/links/drop-limits.ts'
import { assertMoreDrops, linkNotFound } from '../../core/links/link.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { bigint, inactiveReason, type LedgerTx } from '../ledger/ledger-sql.ts'
import { isLeased } from '../resumable/rows.ts'
import type { LinkRow } from '../schema.ts'
import { isUsable } from './link-ledger.ts'

// All of these run under the user's lock, which every other upload by a link of the user takes too.

export interface Drop {
  readonly userId: UserId
  readonly linkId: string
  readonly version: Version
  /** Of the file, as far as it is known. */
  readonly bytes: number
}

/**
 * Throws `not_found` if the link has ended, as `dropRefusal` says, and `too_many_requests` as `assertMoreDrops` does.
 * Against the limit of the link, its unfinished uploads count, and only for another one. Against the limit of all links,
 * uploads in progress count too, also those of the owner: nothing tells who sends them.
 */
export async function assertMayBeginDrop(
  tx: LedgerTx,
  drop: Drop & { readonly isResumable: boolean },
): Promise<void> {
  const link = await findDrops(tx, drop)
  if (link === undefined || link.is_usable === 0) throw linkNotFound()
  const { max_uses: maxUses, uses, of_link: ofLink, of_all: ofAll } = link
  const refusal = dropRefusal(receivedBy(link), { bytes: drop.bytes, isBegun: false })
  if (refusal !== undefined) throw refusal
  const counted = { ofLink: drop.isResumable ? ofLink : 0, ofAll }
  assertMoreDrops({ maxUses: maxUses ?? undefined, uses }, counted)
}

/** Throws as `dropRefusal` says of an upload that has begun. Its commit finds out whether the link has ended. */
export async function assertDropFits(tx: LedgerTx, drop: Drop): Promise<void> {
  const link = await findDrops(tx, drop)
  const refusal = link && dropRefusal(receivedBy(link), { bytes: drop.bytes, isBegun: true })
  if (refusal !== undefined) throw refusal
}

/** Counts the file in the link. Throws as `assertDropFits` does, and `not_found` if the link has ended. */
export async function countDrop(
  tx: LedgerTx,
  drop: Drop & { readonly userCreatedAt: number },
): Promise<void> {
  const { userId, linkId, bytes } = drop
  await assertDropFits(tx, drop)
  const counted = await sql`
    UPDATE links SET uses = uses + 1, received_bytes = received_bytes + ${bigint(bytes)}
    WHERE user_id = ${userId} AND link_id = ${linkId} AND ${isUsable(tx)}
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND status = 'active')
  `.execute(tx.db)
  if (counted.numAffectedRows === 1n) return
  throw (await inactiveReason(tx, drop)) ?? linkNotFound()
}

type DropRow = Pick<LinkRow, 'max_uses' | 'uses' | 'max_bytes' | 'max_files' | 'received_bytes'> & {
  readonly is_usable: number
  readonly of_link: number
  readonly of_all: number
  readonly own_bytes: number
  readonly other_files: number
  readonly other_bytes: number
}

/** An upload in one request holds what it has reserved, a resumable one what it has announced. */
async function findDrops(
  tx: LedgerTx,
  { userId, linkId, version }: Drop,
): Promise<DropRow | undefined> {
  const isOwn = sql`version = ${version}`
  const isOther = sql`link_id = ${linkId} AND version <> ${version}`
  const sum = (which: typeof isOwn) =>
    sql`CAST(COALESCE(SUM(CASE WHEN ${which} THEN bytes END), 0) AS BIGINT)`
  const { rows } = await sql<DropRow>`
    SELECT max_uses, uses, max_bytes, max_files, received_bytes,
      CASE WHEN ${isUsable(tx)} THEN 1 ELSE 0 END AS is_usable, drops.*
    FROM links CROSS JOIN (
      SELECT COUNT(CASE WHEN link_id = ${linkId} AND is_resumable = 1 THEN 1 END) AS of_link,
        COUNT(CASE WHEN link_id IS NOT NULL OR is_resumable = 0 THEN 1 END) AS of_all,
        COUNT(CASE WHEN ${isOther} THEN 1 END) AS other_files,
        ${sum(isOther)} AS other_bytes, ${sum(isOwn)} AS own_bytes
      FROM (
        SELECT version, link_id, COALESCE(announced_bytes, reserved_bytes) AS bytes,
          CASE WHEN announced_bytes IS NULL THEN 0 ELSE 1 END AS is_resumable
        FROM (
          SELECT version, link_id, reserved_bytes, (
            SELECT announced_bytes FROM resumable_uploads
            WHERE resumable_uploads.version = uploads.version
          ) AS announced_bytes
          FROM uploads
          WHERE uploads.user_id = ${userId} AND uploads.state = 'pending' AND ${isLeased(tx)}
        ) AS found
      ) AS pending
    ) AS drops
    WHERE links.user_id = ${userId} AND links.link_id = ${linkId}
  `.execute(tx.db)
  return rows[0]
}

function receivedBy(row: DropRow): Received {
  return {
    maxBytes: row.max_bytes ?? undefined,
    maxFiles: row.max_files ?? undefined,
    receivedBytes: row.received_bytes,
    receivedFiles: row.uses,
    others: { bytes: row.other_bytes, files: row.other_files },
    ownBytes: row.own_bytes,
  }
}
