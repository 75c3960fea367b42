import { readlink, rm, symlink } from 'node:fs/promises'
import type { ObjectHead } from '../../core/objects/object-store.ts'
import { hasCode } from './fsync-directory.ts'

type Metadata = ObjectHead['metadata']

/**
 * Keeps the metadata of the object at `path` as the target of a symbolic link beside it, which points nowhere: as JSON.
 * A link has no content to be synchronised. File systems write it together with the entry of its folder, so it is
 * durable once the caller has synchronised the folder, which it does anyway for the object. File systems without
 * symbolic links keep no metadata.
 */
export async function writeMetadata(path: string, metadata: Metadata): Promise<void> {
  try {
    await symlink(JSON.stringify(metadata), linkOf(path))
  } catch (error) {
    if (!hasCode(error, WITHOUT_LINKS)) throw error
  }
}

/** The metadata of the object at `path`; none when nothing was kept that can be read. */
export async function readMetadata(path: string): Promise<Metadata> {
  try {
    return parseMetadata(await readlink(linkOf(path)))
  } catch (error) {
    if (hasCode(error, NO_LINK)) return {}
    throw error
  }
}

/** Removes what `writeMetadata` made; removing what is not there is fine. */
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

/** FAT, some network file systems, and Windows without the privilege. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

const NO_LINK: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EINVAL'])
