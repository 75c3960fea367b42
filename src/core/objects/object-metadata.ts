import { isAppError } from '../errors.ts'
import { type FileName, parseFileName } from '../files/file-name.ts'
import type { ObjectHead } from './object-store.ts'

/**
 * What travels with the object of a file, so that a lost database can be rebuilt from the bucket: the name under which
 * the file was uploaded, percent-encoded into ASCII. The rest of a file's row is in its key or its content, or can change
 * without a write to the object: a visibility that was kept here could show what was made private since.
 */
export function objectMetadata(name: FileName): ObjectHead['metadata'] {
  return { name: encodeURIComponent(name) }
}

/** The name in an object's metadata, or `undefined` where there is none that a file can have. */
export function nameIn({ name }: ObjectHead['metadata']): FileName | undefined {
  try {
    return name === undefined ? undefined : parseFileName(decodeURIComponent(name))
  } catch (error) {
    if (error instanceof URIError || isAppError(error, 'invalid_file_name')) return undefined
    throw error
  }
}
