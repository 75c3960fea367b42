import { Type } from '@fastify/type-provider-typebox'
import type { File } from '../core/file.ts'
import { formatTimestamp } from '../core/timestamp.ts'

/** A file as replies describe it; sizes in bytes, times RFC 3339 in UTC, `etag` without its quotes. */
export const FileReply = Type.Object({
  name: Type.String(),
  user_id: Type.String(),
  size: Type.Integer(),
  sha256: Type.String(),
  etag: Type.String(),
  version: Type.String(),
  visibility: Type.String(),
  created_at: Type.String(),
  updated_at: Type.String(),
})

export function fileReply(file: File) {
  return {
    name: file.name,
    user_id: file.userId,
    size: file.size,
    sha256: file.sha256,
    etag: file.version,
    version: file.version,
    visibility: file.visibility,
    created_at: formatTimestamp(file.createdAt),
    updated_at: formatTimestamp(file.updatedAt),
  }
}
