import { sql } from 'kysely'
import type { BeginUpload, CheckBegin } from '../../core/uploads/upload-ledger.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { type Evictable, evictableIn, evictionOf, type Room } from '../ledger/evictable.ts'
import { findRoom } from '../ledger/find-room.ts'
import {
  assertPrecondition,
  bigint,
  fileNamed,
  type LedgerTx,
  lockUser,
  type Rule,
  run,
} from '../ledger/ledger-sql.ts'
import { mayBegin, needFrom, needOf, type NeedValues, needValues } from '../ledger/quota-rule.ts'
import { refusalReason } from '../ledger/refusal-reason.ts'
import { assertMayBeginDrop } from '../links/link-ledger.ts'

export async function begin(tx: LedgerTx, upload: BeginUpload): Promise<void> {
  await lockUser(tx, upload.userId)
  const { file, row: replaced } = await fileNamed(tx, upload)
  await assertPrecondition(tx, upload, file)
  const { userId, version, name, objectKey, leaseMs, maxUploads, linkId } = upload
  if (linkId !== undefined) await assertMayBeginDrop(tx, { userId, linkId, isResumable: false })
  const need = needValues(upload, { size: upload.bytes, replaced, ownReserved: 0 })
  const { growth } = need
  const values = { ...need, userId, maxUploads }
  const room = await findRoom(tx, need, evictionOf(upload))
  const reserved = room
    ? await run(tx, reserveEvicting, { ...values, ...room })
    : await run(tx, reserve, values)
  if (reserved.numAffectedRows !== 1n) throw await refusalReason(tx, upload, { need, room })
  const isEvicting = room ? 1 : 0
  await run(tx, insertUpload, { version, userId, name, objectKey, growth, isEvicting, leaseMs })
}

interface Reserve extends NeedValues {
  readonly userId: UserId
  readonly maxUploads: number
}

function reserve(slot: Slot<Reserve>, rule: Rule) {
  return reserveFor(slot, rule, undefined)
}

function reserveEvicting(slot: Slot<Reserve & Room>, rule: Rule) {
  return reserveFor(slot, rule, evictableIn(slot))
}

function reserveFor(slot: Slot<Reserve>, rule: Rule, evictable: Evictable | undefined) {
  const mayReserve = mayBegin(rule, needFrom(slot, evictable), bigint(slot('maxUploads')))
  return sql`
    UPDATE quotas
    SET reserved_bytes = reserved_bytes + ${slot('growth')}
    WHERE user_id = ${slot('userId')} AND ${mayReserve}
  `
}

interface Insert {
  readonly version: Version
  readonly userId: UserId
  readonly name: FileName
  readonly objectKey: ObjectKey
  readonly growth: number
  readonly isEvicting: 0 | 1
  readonly leaseMs: number
}

export function insertUpload(slot: Slot<Insert>, { now }: Rule) {
  return sql`
    INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, is_evicting, state,
      lease_until)
    VALUES (${slot('version')}, ${slot('userId')}, ${slot('name')}, ${slot('objectKey')},
            ${slot('growth')}, ${slot('isEvicting')}, 'pending', ${now} + ${slot('leaseMs')})
  `
}

export async function checkBegin(tx: LedgerTx, upload: CheckBegin): Promise<void> {
  const { file, row: replaced } = await fileNamed(tx, upload)
  await assertPrecondition(tx, upload, file)
  const { userId, maxUploads } = upload
  const need = needValues(upload, { size: upload.bytes, replaced, ownReserved: 0 })
  const room = await findRoom(tx, need, evictionOf(upload))
  const isAccepted = mayBegin(tx, needOf(need, room), bigint(maxUploads))
  const { rows } = await sql`
    SELECT 1 FROM quotas WHERE user_id = ${userId} AND ${isAccepted}
  `.execute(tx.db)
  if (rows.length === 0) throw await refusalReason(tx, upload, { need, room })
}
