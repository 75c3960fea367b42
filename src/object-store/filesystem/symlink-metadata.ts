import { readlink, rm, symlink } from 'node:fs/promises'
import type { ObjectHead } from '../../core/objects/object-store.ts'
import { hasCode, TAKEN } from './fsync-directory.ts'

type Metadata = ObjectHead['metadata']

/**
 * Stores JSON as the target of a dangling symbolic link, which is durable once the caller has synced the directory. Can
 * be repeated: an object's metadata never changes.
 */
export async function writeMetadata(path: string, metadata: Metadata): Promise<void> {
  try {
    await symlink(JSON.stringify(metadata), linkOf(path))
  } catch (error) {
    if (!hasCode(error, WITHOUT_LINKS) && !hasCode(error, TAKEN)) throw error
  }
}

/** Resolves to `{}` if there is no readable metadata. */
export async function readMetadata(path: string): Promise<Metadata> {
  try {
    return parseMetadata(await readlink(linkOf(path)))
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

const NO_LINK: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EINVAL'])
