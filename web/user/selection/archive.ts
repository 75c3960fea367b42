import type { Files } from '../../../packages/js/src/client.ts'
import type { FileEntry } from '../../shared/model.ts'
import { commonPrefix } from './common-prefix.ts'

/** As many files as the service puts into an archive by their names. */
export const MAX_NAMES = 200

/** The service accepts a head of 16 KiB, of which cookies and proxies need some. */
const MAX_QUERY = 10_000

/** As many files as the service puts into an archive by what their names begin with. */
const MAX_FILES = 10_000

export interface ArchivePart {
  readonly files: readonly FileEntry[]
  /** Relative to the page. */
  readonly path: string
}

/** The files as few archives. */
export function archiveParts(files: readonly FileEntry[]): readonly ArchivePart[] {
  const parts: { files: FileEntry[]; query: string }[] = []
  for (const file of files) {
    const name = `name=${encodeURIComponent(file.name)}`
    const last = parts.at(-1)
    const isFull = last?.files.length === MAX_NAMES || (last?.query.length ?? 0) > MAX_QUERY
    if (last === undefined || isFull) parts.push({ files: [file], query: name })
    else {
      last.files.push(file)
      last.query += `&${name}`
    }
  }
  return parts.map((part) => ({ files: part.files, path: `users/me/archive?${part.query}` }))
}

/**
 * Resolves to what the names of these files and of no other file begin with; to `undefined` if there is no such text, or
 * if they are too many for one archive. Asks the service, because the list need not have all files.
 */
export async function sharedPrefix(
  service: Pick<Files, 'list'>,
  files: readonly FileEntry[],
): Promise<string | undefined> {
  if (files.length > MAX_FILES) return undefined
  const selected = new Set(files.map(({ name }) => name))
  const prefix = commonPrefix([...selected])
  let count = 0
  for await (const page of service.list({ prefix: prefix || undefined, limit: 1_000 }).pages()) {
    if (!page.files.every(({ name }) => selected.has(name))) return undefined
    count += page.files.length
  }
  return count === selected.size ? prefix : undefined
}

export function bytesOf(files: readonly FileEntry[]): number {
  return files.reduce((bytes, { size }) => bytes + size, 0)
}
