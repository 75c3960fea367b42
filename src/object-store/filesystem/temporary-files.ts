import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'

/** Suffix of the file that holds an object's content until it is whole. */
export const TEMPORARY = '.tmp'

/** Suffix of the folder that holds the files of appends that took over. */
export const TAKEN_OVER = '.tmp.d'

/** Used once, so that a late append of an earlier claim never opens the file. */
export function freshSuffix(): string {
  return `${TAKEN_OVER}/${randomUUID()}`
}

export function isSuffix(text: unknown): text is string {
  return typeof text === 'string' && SUFFIX.test(text)
}

const SUFFIX = /^\.tmp(?:\.d\/[0-9a-f-]{36})?$/

export async function removeTemporaryFiles(path: string): Promise<void> {
  await rm(`${path}${TEMPORARY}`, { force: true })
  await rm(`${path}${TAKEN_OVER}`, { recursive: true, force: true })
}
