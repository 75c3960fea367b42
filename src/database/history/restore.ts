import { fileExists, type File, NEVER } from '../../core/files/file.ts'
import type { RestoreVersion } from '../../core/history/history-ledger.ts'
import { versionGone, versionNotFound } from '../../core/history/past-version.ts'
import type { CommittedUpload } from '../../core/uploads/upload-ledger.ts'
import { applyChanges, endExpired } from '../ledger/apply-changes.ts'
import {
  assertPrecondition,
  fileNamed,
  inactiveReason,
  type LedgerTx,
  lockUser,
} from '../ledger/ledger-sql.ts'
import { discardMarkers } from './markers.ts'
import { findPast } from './past-versions.ts'

export async function restoreVersion(
  tx: LedgerTx,
  request: RestoreVersion,
): Promise<CommittedUpload> {
  const { userId, userCreatedAt, overwrite, maxFiles, garbageDelayMs } = request
  await lockUser(tx, userId)
  const found = await findPast(tx, request)
  if (typeof found !== 'object') {
    const reason = found === 'gone' ? versionGone() : versionNotFound()
    throw (await inactiveReason(tx, request)) ?? reason
  }
  const { past, isMarked, now } = found
  const { name = past.name } = request
  const { file: old, expired } = await fileNamed(tx, { userId, name })
  await assertPrecondition(tx, request, old)
  if (old !== undefined && !overwrite) throw fileExists()
  const { version, objectKey, size, sha256, mediaType, metadata } = past
  const file: File = {
    userId,
    name,
    version,
    objectKey,
    size,
    sha256,
    visibility: old?.visibility ?? past.visibility,
    createdAt: old?.createdAt ?? past.createdAt,
    updatedAt: now,
    mediaType,
    metadata,
    expiresAt: NEVER,
    isKept: old?.isKept ?? 0,
  }
  const changes = [...endExpired(expired), { type: 'restored', file, old } as const]
  const restore = { maxFiles }
  const usage = await applyChanges(tx, { userId, userCreatedAt, changes, garbageDelayMs, restore })
  if (isMarked) await discardMarkers(tx, { userId, keys: [objectKey] })
  return { file, replaced: old !== undefined, usage }
}
