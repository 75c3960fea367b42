import { readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import type { ObjectHead } from '../../core/objects/object-store.ts'
import { hasCode, TAKEN } from '../../core/system-error.ts'

type Metadata = ObjectHead['metadata']

/** What every file system takes as the target of a link: XFS and macOS take no more. */
const MAX_LINK_BYTES = 1023

/**
 * Stores JSON as the target of a dangling symbolic link, or in a file if it is longer than a link can be. Both are
 * durable once the caller has synced the directory. Can be repeated: an object's metadata never changes.
 */
export async function writeMetadata(path: string, metadata: Metadata): Promise<void> {
  const text = JSON.stringify(metadata)
  if (Buffer.byteLength(text) > MAX_LINK_BYTES) {
    await writeFile(linkOf(path), text, { flush: true })
    return
  }
  try {
    await symlink(text, linkOf(path))
  } catch (error) {
    if (!hasCode(error, WITHOUT_LINKS) && !hasCode(error, TAKEN)) throw error
  }
}

/** Resolves to `{}` if there is no readable metadata. */
export async function readMetadata(path: string): Promise<Metadata> {
  const link = linkOf(path)
  try {
    const text = await readlink(link).catch(async (error: unknown) => {
      if (hasCode(error, NOT_A_LINK)) return await readFile(link, 'utf8')
      throw error
    })
    return parseMetadata(text)
  } catch (error) {
    if (hasCode(error, NO_LINK)) return {}
    throw error
  }
}

export async function removeMetadata(path: string): Promise<void> {
  await rm(linkOf(path), { force: true })
}

function linkOf(path: string): string {
  return `${path}.metadata`
}

function parseMetadata(text: string): Metadata {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return {}
    const entries: [string, unknown][] = Object.entries(parsed)
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => isText(entry)))
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function isText([, value]: readonly [string, unknown]): boolean {
  return typeof value === 'string'
}

/** No metadata on FAT, some network file systems, and Windows without the privilege. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

const NO_LINK: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR'])

const NOT_A_LINK: ReadonlySet<unknown> = new Set(['EINVAL'])
