import { AppError } from '../../core/errors.ts'
import { type FileName, parseFileName } from '../../core/files/file-name.ts'

/** The file name in a path. The router takes an empty segment for a match, but a path without a name is not ours. */
export function fileNameParam(segment: string): FileName {
  if (segment === '') throw new AppError('not_found', 'There is nothing under this path.')
  return parseFileName(segment)
}
