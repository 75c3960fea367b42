import type { File } from '../files/file.ts'
import { timeOf } from '../objects/object-key.ts'
import type { ResumableUpload } from './resumable-ledger.ts'

/**
 * Whether the file has the name that its upload gave it, as far as it tells: nothing has changed since it was created.
 */
export function isAsUploaded({ createdAt, updatedAt }: File): boolean {
  return createdAt === updatedAt
}

/** Describes a finished upload whose row has been deleted, from its file. */
export function finishedUpload(file: File): ResumableUpload {
  const { userId, version, name, objectKey: key, size, sha256, crc32, visibility, updatedAt } = file
  return {
    userId,
    version,
    name,
    objectKey: key,
    state: 'finished',
    length: size,
    offset: size,
    partSize: size,
    epoch: 0,
    isHeld: false,
    holder: undefined,
    storeState: '{}',
    metadata: `filename ${Buffer.from(name).toString('base64')}`,
    visibility,
    precondition: undefined,
    linkId: undefined,
    credential: undefined,
    deviceId: undefined,
    evict: undefined,
    expiresInMs: undefined,
    expectedSha256: undefined,
    digest: { sha256, crc32 },
    refusal: undefined,
    createdAt: timeOf(version),
    updatedAt,
    expiresAt: updatedAt,
  }
}
