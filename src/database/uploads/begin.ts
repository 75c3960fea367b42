import { type RawBuilder, sql } from 'kysely'
import type { BeginUpload, CheckBegin } from '../../core/uploads/upload-ledger.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { isWithinShare, shareOfUpload } from '../ledger/device-share.ts'
import { evictableIn, evictionOf, type Room } from '../ledger/evictable.ts'
import { findRoom } from '../ledger/find-room.ts'
import {
  assertPrecondition,
  type LedgerTx,
  lockUser,
  type SqlContext,
  run,
} from '../ledger/ledger-sql.ts'
import { mayBegin, needFrom, needOf, type NeedValues, needValues } from '../ledger/quota-rule.ts'
import { fileNamed } from '../ledger/read-files.ts'
import { refusalReason } from '../ledger/refusal-reason.ts'
import { assertMayBeginDrop } from '../links/drops.ts'

export async function begin(tx: LedgerTx, upload: BeginUpload): Promise<void> {
  await lockUser(tx, upload.userId)
  const { file, row: replaced } = await fileNamed(tx, upload)
  await assertPrecondition(tx, upload, file)
  const { userId, version, name, objectKey, linkId, credential, deviceId = null, bytes } = upload
  if (linkId !== undefined) {
    await assertMayBeginDrop(tx, { userId, linkId, version, bytes, isResumable: false })
  }
  const sizes = { size: bytes, replaced, ownReserved: 0 }
  const need = needValues(upload, sizes)
  const share = await shareOfUpload(tx, upload, sizes)
  const room = await findRoom(tx, { need, share }, evictionOf(upload))
  const first = reservedAtFirst(need, credential)
  const isWithin = isWithinShare(share, room)
  const reserved = isWithin ? await reserve(tx, { upload, need, first, room }) : undefined
  if (reserved?.numAffectedRows !== 1n) {
    throw await refusalReason(tx, upload, { need, share, room, counted: 'maxUploads' })
  }
  const isEvicting = room ? 1 : 0
  const values = {
    version,
    userId,
    name,
    objectKey,
    first,
    isEvicting,
    leaseMs: tx.times.leaseMs,
    deviceId,
    deviceReserved: share === undefined ? 0 : reservedAtFirst(share, credential),
  } as const
  const by = { credential: credential ?? null, linkId: linkId ?? null }
  await run(tx, insertUpload, { ...values, ...by })
}

/** A narrow credential reserves nothing for bytes that it has only announced. */
export function reservedAtFirst(
  { growth }: { readonly growth: number },
  credential: string | undefined,
): number {
  return credential === undefined ? growth : 0
}

interface Reserving {
  readonly upload: CheckBegin
  readonly need: NeedValues
  readonly first: number
  readonly room: Room | undefined
}

function reserve(tx: LedgerTx, { upload, need, first, room }: Reserving) {
  const values = { ...need, userId: upload.userId, first }
  return room === undefined
    ? run(tx, reservePlainly, values)
    : run(tx, reserveEvicting, { ...values, ...room })
}

interface Reserve extends NeedValues {
  readonly userId: UserId
  /** As `reservedAtFirst`. */
  readonly first: number
}

function reservePlainly(slot: Slot<Reserve>, context: SqlContext) {
  return reserveWhere(slot, mayBegin(context, needFrom(slot)))
}

function reserveEvicting(slot: Slot<Reserve & Room>, context: SqlContext) {
  return reserveWhere(slot, mayBegin(context, needFrom(slot, evictableIn(slot))))
}

function reserveWhere(slot: Slot<Reserve>, mayReserve: RawBuilder<boolean>) {
  return sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${slot('first')}
    WHERE user_id = ${slot('userId')} AND ${mayReserve}
  `
}

interface Insert {
  readonly version: Version
  readonly userId: UserId
  readonly name: FileName
  readonly objectKey: ObjectKey
  readonly first: number
  readonly isEvicting: 0 | 1
  readonly credential: string | null
  readonly deviceId: string | null
  readonly deviceReserved: number
  readonly linkId: string | null
  readonly leaseMs: number
}

export function insertUpload(slot: Slot<Insert>, { now }: SqlContext) {
  return sql`
    INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, is_evicting, credential,
      device_id, device_reserved, link_id, state, lease_until)
    VALUES (${slot('version')}, ${slot('userId')}, ${slot('name')}, ${slot('objectKey')},
            ${slot('first')}, ${slot('isEvicting')}, ${slot('credential')}, ${slot('deviceId')},
            ${slot('deviceReserved')}, ${slot('linkId')}, 'pending', ${now} + ${slot('leaseMs')})
  `
}

export async function checkBegin(tx: LedgerTx, upload: CheckBegin): Promise<void> {
  const { file, row: replaced } = await fileNamed(tx, upload)
  await assertPrecondition(tx, upload, file)
  const { userId } = upload
  const sizes = { size: upload.bytes, replaced, ownReserved: 0 }
  const need = needValues(upload, sizes)
  const share = await shareOfUpload(tx, upload, sizes)
  const room = await findRoom(tx, { need, share }, evictionOf(upload))
  const isAccepted = mayBegin(tx, needOf(need, room))
  const { rows } = await sql`
    SELECT 1 FROM quotas WHERE user_id = ${userId} AND ${isAccepted}
  `.execute(tx.db)
  if (rows.length === 0 || !isWithinShare(share, room)) {
    throw await refusalReason(tx, upload, { need, share, room, counted: 'maxUploads' })
  }
}
