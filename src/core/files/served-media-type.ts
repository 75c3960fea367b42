import mime from 'mime'
import type { ContentDescription } from './file.ts'
import type { FileName } from './file-name.ts'
import { DEFAULT_MEDIA_TYPE, type MediaType } from './media-type.ts'

/**
 * The media type that the client stated, else the one of the extension of the name. The latter is not stored, so it
 * follows a rename.
 */
export function servedMediaType({
  name,
  mediaType,
}: Pick<ContentDescription, 'mediaType'> & { readonly name: FileName }): MediaType {
  if (mediaType !== null) return mediaType
  const [, extension] = EXTENSION.exec(name) ?? []
  const known = extension === undefined ? null : mime.getType(extension)
  return (known ?? DEFAULT_MEDIA_TYPE) as MediaType
}

/** A dot at the beginning of a name, or of its last segment, begins no extension. */
const EXTENSION = /[^/]\.([\w-]{1,16})$/
