import { sql } from 'kysely'
import { countedBytes, type File, NEVER } from '../../core/files/file.ts'
import { metadataBytes, NO_METADATA } from '../../core/files/metadata.ts'
import type { CommittedUpload, CommitUpload, Evicted } from '../../core/uploads/upload-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import { needValues } from '../ledger/quota-rule.ts'
import { shareOfUpload } from '../ledger/device-share.ts'
import { evictionOf } from '../ledger/evictable.ts'
import { makeRoom } from '../ledger/find-room.ts'
import { applyChanges, endExpired } from '../ledger/apply-changes.ts'
import { isHeld } from '../ledger/changed-rows.ts'
import { countDrop } from '../links/drops.ts'
import {
  assertPrecondition,
  findAccount,
  findUpload,
  type FoundUpload,
  type LedgerTx,
  run,
  lockUser,
  lostReason,
  type UploadId,
  uploadLost,
} from '../ledger/ledger-sql.ts'
import type { Outcome } from '../ledger/rows.ts'

export async function commit(tx: LedgerTx, upload: CommitUpload): Promise<CommittedUpload> {
  await lockUser(tx, upload.userId)
  const found = await findUpload(tx, upload)
  if (found === undefined) throw await lostReason(tx, upload)
  if (found.outcome !== null) return await repeated(tx, found.userId, found.outcome)

  const { file: old, expired, row: replaced } = found.held
  const file = committedFile(upload, { found, old })
  const { userId, userCreatedAt, version, evict } = upload
  const eviction = evictionOf({ userId, version, name: found.name, evict })
  const size = countedBytes(file)
  const { credential } = found
  const ofAccount = { size, replaced, ownReserved: found.reserved }
  const need = needValues({ userCreatedAt, credential }, ofAccount)
  const device = { userId, version, deviceId: found.deviceId }
  const sizes = { size, replaced, ownReserved: found.deviceReserved }
  const share = eviction && (await shareOfUpload(tx, device, sizes))
  const { room, evicted } = eviction ? await makeRoom(tx, { need, share }, eviction) : {}
  if (found.state !== 'pending') throw await lostReason(tx, upload)
  await assertPrecondition(tx, upload, old)
  const { linkId } = upload
  if (linkId !== undefined) {
    await countDrop(tx, { userId, userCreatedAt, linkId, version, bytes: upload.size })
  }
  const { now } = found
  const { usage, dated } = await applyChanges(tx, {
    userId,
    userCreatedAt,
    credential: actorOf(upload, found),
    now,
    changes: [
      ...(evicted ?? []).map((each) => ({ type: 'evicted', old: each }) as const),
      ...endExpired(expired),
      old === undefined ? { type: 'created', file } : { type: 'replaced', file, old },
    ],
    upload: { ...found, version, room },
  })
  const outcome: Outcome = {
    file: dated(file),
    replaced: old !== undefined,
    evicted: evicted && measure(evicted),
  }
  const settling = { userId, version, now, outcome: JSON.stringify(outcome) }
  const settled = await run(tx, settleUpload, settling)
  if (settled.numAffectedRows !== 1n) throw await lostReason(tx, upload)
  return { ...outcome, usage }
}

function measure(files: readonly File[]): Evicted {
  return { files: files.length, bytes: files.reduce((sum, file) => sum + countedBytes(file), 0) }
}

async function repeated(tx: LedgerTx, userId: UserId, outcome: string): Promise<CommittedUpload> {
  const { user, usage } = (await findAccount(tx, userId)) ?? {}
  if (usage === undefined || user?.status === 'deleted') throw uploadLost()
  const { file, replaced, evicted } = JSON.parse(outcome) as Outcome
  return { file, replaced, evicted, usage }
}

/** The narrow credential that began the upload, or, of a resumable one, that finishes it. */
function actorOf(upload: CommitUpload, found: FoundUpload): string | undefined {
  return found.credential ?? upload.credential
}

function committedFile(
  upload: CommitUpload,
  { found, old }: { readonly found: FoundUpload; readonly old: File | undefined },
): File {
  const { version, size, sha256, crc32, visibility, expiresInMs } = upload
  const { mediaType = null, metadata } = upload
  const described = metadata ?? old?.metadata ?? NO_METADATA
  const expiresAt = expiresInMs === undefined ? NEVER : found.now + expiresInMs
  const isSame = old !== undefined && isHeld(old, { sha256, expiresAt })
  return {
    userId: found.userId,
    name: found.name,
    version,
    objectKey: found.objectKey,
    size,
    sha256,
    crc32,
    visibility: visibility ?? old?.visibility ?? 'private',
    createdAt: old?.createdAt ?? found.now,
    updatedAt: found.now,
    mediaType,
    metadata: described === NO_METADATA ? null : described,
    deviceId: found.deviceId,
    expiresAt,
    isKept: old?.isKept ?? 0,
    metadataBytes: metadataBytes(described),
    modifiedAt: 0,
    storedBy: storedBy(actorOf(upload, found), isSame ? old : undefined),
  }
}

/** Of content that replaces the same, which it holds, or without `same` other content or none. See `File.storedBy`. */
function storedBy(credential: string | undefined, same: File | undefined): string | null {
  return credential !== undefined && same !== undefined ? same.storedBy : (credential ?? null)
}

/** The compare-and-set that mirrors the one in `abort`: exactly one of the two changes the row. */
function settleUpload(slot: Slot<UploadId & { readonly now: number; readonly outcome: string }>) {
  return sql`
    UPDATE uploads
    SET state = 'committed', settled_at = ${slot('now')}, outcome = ${slot('outcome')}
    WHERE version = ${slot('version')} AND user_id = ${slot('userId')} AND state = 'pending'
  `
}
