import { isAppError } from '../errors.ts'
import { type FileName, parseFileName } from '../files/file-name.ts'
import type { ObjectHead } from './object-store.ts'

/** Lets a rebuild restore the file name. Holds nothing mutable: an old visibility could expose a private file. */
export function objectMetadata(name: FileName): ObjectHead['metadata'] {
  return { name: encodeURIComponent(name) }
}

/** The file name in an object's metadata; `undefined` when missing or invalid. */
export function nameIn({ name }: ObjectHead['metadata']): FileName | undefined {
  try {
    return name === undefined ? undefined : parseFileName(decodeURIComponent(name))
  } catch (error) {
    if (error instanceof URIError || isAppError(error, 'invalid_file_name')) return undefined
    throw error
  }
}
