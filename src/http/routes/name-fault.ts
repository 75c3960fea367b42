import { AppError } from '../../core/errors.ts'

/**
 * The fault of a URL that the router cannot decode: `invalid_file_name` if it has the path of a file, and what stands
 * before the name can be decoded. `path` matches the URL up to the name, and captures the owner.
 */
export function nameFault(path: RegExp, url = ''): AppError | undefined {
  const [, owner = '%'] = path.exec(url) ?? []
  return isDecodable(owner)
    ? new AppError('invalid_file_name', 'The file name is not valid percent-encoded UTF-8.')
    : undefined
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment)
    return true
  } catch {
    return false
  }
}
