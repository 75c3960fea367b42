import type { ContentDescription } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import { membersOf } from '../../core/files/metadata.ts'
import { servedMediaType } from '../headers/served-media-type.ts'
import { Strings, Text } from '../openapi/reply-schemas.ts'

/** What a file, current or past, has in every response. */
export const DESCRIPTION = {
  media_type: Text(
    'The media type of the content, as the client stated it, else by the extension of the name.',
    'text/markdown',
  ),
  metadata: Strings('What the client keeps with the file: strings by name.', {
    camera: 'front door',
  }),
}

export function descriptionReply(file: ContentDescription & { readonly name: FileName }) {
  return { media_type: servedMediaType(file), metadata: membersOf(file.metadata) }
}
