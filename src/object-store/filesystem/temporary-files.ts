import { readdir, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { orMissing } from './or-missing.ts'

/** Suffix of the file that holds an object's content until it is whole. */
export const TEMPORARY = '.tmp'

/** Suffix of the folder that holds the files of appends that took over. */
const TAKEN_OVER = '.tmp.d'

/**
 * Suffix of an upload's file by its number. The ledger records the number of a copy with the claim of the append that
 * makes it, so no two appends ever make the same one.
 */
export function suffixOf(file: number): string {
  return file === 0 ? TEMPORARY : `${TAKEN_OVER}/${file}`
}

export async function removeTemporaryFiles(path: string): Promise<void> {
  await rm(`${path}${TEMPORARY}`, { force: true })
  await rm(`${path}${TAKEN_OVER}`, { recursive: true, force: true })
}

/**
 * Removes the files up to the number `last`, except for `kept`. An append that was fenced may call this late: the files
 * of those after it have higher numbers.
 */
export async function removeOlderFiles(
  path: string,
  { last, kept }: { readonly last: number; readonly kept: number },
): Promise<void> {
  const names = (await orMissing(readdir(`${path}${TAKEN_OVER}`))) ?? []
  for (const file of [0, ...names.map(Number)]) {
    if (file <= last && file !== kept) await rm(`${path}${suffixOf(file)}`, { force: true })
  }
}

/** Removes one file. Leaves no empty folder of appends that took over. */
export async function removeTemporaryFile(path: string, file: number): Promise<void> {
  const name = `${path}${suffixOf(file)}`
  await rm(name, { force: true })
  if (file > 0) await rmdir(dirname(name)).catch(() => undefined)
}
