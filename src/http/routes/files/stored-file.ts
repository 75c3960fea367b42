import { mayRead, permits, type Scoped } from '../../../core/auth/scope.ts'
import { availableBytes } from '../../../core/quota/capacity.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import type { Usage } from '../../../core/users/account-ledger.ts'
import { Bytes, Count } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { fileReply, seenFile, SeenFileReply } from './file-resource.ts'

export const RemainingCapacity = Type.Object({
  capacity: Bytes('Capacity of the repository, in bytes.', 1_073_741_824),
  used: Bytes('Bytes used by files.', 6143),
  reserved: Bytes('Bytes reserved by uploads in progress.', 0),
  available: Bytes('Bytes that are still available.', 1_073_735_681),
})

/** The member `capacity` of an answer, which a token without `read` does not get. */
export function remainingCapacity(subject: Scoped, usage: Usage) {
  if (!permits(subject, 'read')) return {}
  const { capacity, used, reserved } = usage
  return { capacity: { capacity, used, reserved, available: availableBytes(usage) } }
}

export const UploadedFile = Type.Intersect(
  [
    SeenFileReply,
    Type.Object({
      replaced: Type.Boolean({
        description: 'Whether the upload replaced a file with the same name.',
      }),
      capacity: Type.Optional(RemainingCapacity),
      evicted: Type.Optional(
        Type.Object(
          {
            files: Count('Number of evicted files.', 2),
            bytes: Bytes('Sum of their sizes.', 12_286),
          },
          { description: 'What made room, if the upload may evict.' },
        ),
      ),
    }),
  ],
  {
    title: 'UploadedFile',
    description: 'The uploaded file, and, for a token with `read`, the capacity after the upload.',
  },
)

/** The answer to a request that has sent the whole content, which tells its sender nothing of any other content. */
export function uploadedFile(subject: Scoped, committed: CommittedUpload) {
  const { file } = committed
  if (mayRead(subject, file.name)) return committedFile(subject, committed)
  const { size, sha256, etag, version, updated_at, expires_at, media_type } = fileReply(file)
  const sent = { size, sha256, etag, version, updated_at, expires_at, media_type }
  return { ...committedFile(subject, committed), ...sent }
}

/** The answer to any other request that commits or restores a file. */
export function committedFile(subject: Scoped, committed: CommittedUpload) {
  const { file, replaced, usage, evicted } = committed
  return {
    ...seenFile(subject, file),
    replaced,
    ...remainingCapacity(subject, usage),
    ...(evicted && { evicted }),
  }
}
