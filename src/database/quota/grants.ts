import { type Kysely, sql } from 'kysely'
import { DEVICE } from '../../core/quota/grants.ts'
import type { DeviceShare } from '../../core/quota/device-share.ts'
import type {
  Grant,
  GrantFilter,
  GrantKey,
  GrantStore,
  NewGrant,
} from '../../core/quota/grant-store.ts'
import { changingCapacity } from '../changes/record.ts'
import type { Clocked, LedgerTx } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import type { GrantRow, Tables } from '../schema.ts'
import { lockKnownUser, requireUser } from '../users/find-user.ts'
import { revokeOfDevice } from '../auth/revocation.ts'

export const GRANT_OPERATIONS = {
  putGrant: { through: 'transaction', run: putGrant, effect: 'grows' },
  revokeGrant: { through: 'transaction', run: revokeGrant, effect: 'frees' },
  hasDevice: { through: 'query', run: hasDevice, effect: 'reads' },
  listGrants: { through: 'query', run: listGrants, effect: 'reads' },
} as const satisfies Operations<GrantStore>

async function putGrant(tx: LedgerTx, grant: NewGrant): ReturnType<GrantStore['putGrant']> {
  const { userId } = grant
  await lockKnownUser(tx, userId)
  return await changingCapacity(tx, { userId, change: () => put(tx, grant) })
}

/** Under the user's lock: `created` depends on a read before the write. */
async function put({ db, now }: Clocked, grant: NewGrant): ReturnType<GrantStore['putGrant']> {
  const created = !(await stands(db, grant))
  const { rows } = await sql<GrantRow>`
    INSERT INTO grants (user_id, source, reference, bytes, model, label, share, starts_at, ends_at, created_at)
    VALUES (${grant.userId}, ${grant.source}, ${grant.reference}, ${grant.bytes}, ${grant.model ?? null},
            ${grant.label ?? null}, ${grant.share?.toString() ?? null},
            ${grant.startsAt ?? null}, ${grant.endsAt ?? null}, ${now})
    ON CONFLICT (user_id, source, reference) DO UPDATE
    SET bytes = excluded.bytes, model = excluded.model, label = excluded.label, share = excluded.share,
        starts_at = excluded.starts_at, ends_at = excluded.ends_at
    RETURNING *
  `.execute(db)
  if (rows[0] === undefined) throw new TypeError('INSERT ... RETURNING returned no row')
  return { grant: toGrant(rows[0]), created }
}

async function stands(
  db: Kysely<Tables>,
  { userId, source, reference }: GrantKey,
): Promise<boolean> {
  const { rows } = await sql`
    SELECT bytes FROM grants
    WHERE user_id = ${userId} AND source = ${source} AND reference = ${reference}
  `.execute(db)
  return rows.length === 1
}

/** Ends also the tokens and links of a device. */
async function revokeGrant(tx: LedgerTx, grant: GrantKey): Promise<void> {
  const { userId, source, reference } = grant
  await lockKnownUser(tx, userId)
  await changingCapacity(tx, { userId, change: () => remove(tx, grant) })
  if (source === DEVICE) await revokeOfDevice(tx, { userId, deviceId: reference })
}

async function remove({ db }: Clocked, { userId, source, reference }: GrantKey): Promise<void> {
  await sql`
    DELETE FROM grants
    WHERE user_id = ${userId} AND source = ${source} AND reference = ${reference}
  `.execute(db)
}

export async function hasDevice(
  { db }: Clocked,
  { userId, deviceId }: Parameters<GrantStore['hasDevice']>[0],
): Promise<boolean> {
  return await stands(db, { userId, source: DEVICE, reference: deviceId })
}

async function listGrants(
  { db }: Clocked,
  { userId, source, page }: GrantFilter,
): Promise<readonly Grant[]> {
  await requireUser(db, userId)
  const ofSource = source === undefined ? sql`` : sql`AND source = ${source}`
  const { after, limit } = page ?? {}
  const further =
    after === undefined
      ? sql``
      : sql`AND (source, reference) > (${after.source}, ${after.reference})`
  const atMost = limit === undefined ? sql`` : sql`LIMIT ${limit}`
  const { rows } = await sql<GrantRow>`
    SELECT * FROM grants
    WHERE user_id = ${userId} ${ofSource} ${further}
    ORDER BY source, reference ${atMost}
  `.execute(db)
  return rows.map(toGrant)
}

export function toGrant(row: GrantRow): Grant {
  return {
    source: row.source,
    reference: row.reference,
    bytes: row.bytes,
    model: row.model ?? undefined,
    label: row.label ?? undefined,
    share: row.share === null ? undefined : toShare(row.share),
    startsAt: row.starts_at ?? undefined,
    endsAt: row.ends_at ?? undefined,
    createdAt: row.created_at,
  }
}

function toShare(text: string): DeviceShare {
  return text === 'all' || text === 'own' ? text : Number(text)
}
