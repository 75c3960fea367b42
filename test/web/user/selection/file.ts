import type { FileEntry } from '../../../../web/shared/model.ts'

/** A file of which only the name matters, and its etag, which is made of the name. */
export function fileNamed(name: string): FileEntry {
  const time = '2026-11-24T00:00:00Z'
  return {
    name,
    user_id: 'alice',
    size: 1,
    etag: `etag of ${name}`,
    visibility: 'private',
    created_at: time,
    updated_at: time,
  }
}
