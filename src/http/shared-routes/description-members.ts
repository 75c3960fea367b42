import type { ContentDescription } from '../../core/files/file.ts'
import { DEFAULT_MEDIA_TYPE } from '../../core/files/media-type.ts'
import { membersOf } from '../../core/files/metadata.ts'
import { Strings, Text } from '../openapi/reply-schemas.ts'

/** What a file, current or past, has in every response. */
export const DESCRIPTION = {
  media_type: Text('The media type of the content, as the client stated it.', 'text/markdown'),
  metadata: Strings('What the client keeps with the file: strings by name.', {
    camera: 'front door',
  }),
}

export function descriptionReply({ mediaType, metadata }: ContentDescription) {
  return { media_type: mediaType ?? DEFAULT_MEDIA_TYPE, metadata: membersOf(metadata) }
}
