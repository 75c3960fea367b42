import { readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { OBJECT_KEY_PREFIX } from '../../../../src/core/objects/object-key.ts'

const PAGE_BYTES = 4096

/** The leaf pages of the B-trees of SQLite: first byte (sqlite.org/fileformat.html, section 1.6). */
const LEAF = { table: 13, index: 10 }

/** Fills the leaf page of the pack with zeros on which this key lies: with the object, or in the index. */
export async function overwritePageWith(
  file: string,
  key: string,
  tree: keyof typeof LEAF = 'table',
): Promise<void> {
  const content = await readFile(file)
  const name = key.slice(OBJECT_KEY_PREFIX.length)
  for (let at = PAGE_BYTES; at < content.length; at += PAGE_BYTES) {
    const page = content.subarray(at, at + PAGE_BYTES)
    if (page[0] === LEAF[tree] && page.includes(name)) page.fill(0)
  }
  await writeFile(file, content)
}

/** Cuts the pack to a share of its pages, as a full disk or an interrupted copy does. */
export async function cutTo(file: string, share: number): Promise<void> {
  const { size } = await stat(file)
  await truncate(file, Math.floor((size * share) / PAGE_BYTES) * PAGE_BYTES)
}
