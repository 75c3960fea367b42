import { VISIBILITIES } from '../../../core/files/file.ts'
import type { EndPosition } from '../../../core/history/history-ledger.ts'
import { ENDS, type PastVersion } from '../../../core/history/past-version.ts'
import { isVersion } from '../../../core/objects/object-key.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { withParsed } from '../../openapi/operation.ts'
import { FILE_NAME_SCHEMA } from '../../openapi/parameters.ts'
import { Bytes, EXAMPLE_SHA256, OneOf, Page, Text, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { DESCRIPTION, descriptionReply } from '../files/file-resource.ts'
import { formatCursor, type Key } from '../pagination.ts'

export const VERSION = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

const PastVersionReply = Type.Object(
  {
    version: Text('The version of the file, as in its ETag.', VERSION),
    name: Text('The name that the file had at its end.', 'README.md'),
    size: Bytes('Size of the content, in bytes.', 6143),
    sha256: Text('SHA-256 of the content, in lower-case hexadecimal.', EXAMPLE_SHA256),
    visibility: OneOf(VISIBILITIES, 'What a restored file has, unless it replaces another one.'),
    ...DESCRIPTION,
    created_at: Time('When a file with this name was first uploaded.'),
    ended_at: Time('When the file was replaced or deleted.'),
    ended_as: OneOf(ENDS, 'What ended it.'),
    expires_at: Time('When the version leaves the history at the latest.'),
  },
  { title: 'PastVersion', description: 'A file that was replaced or deleted.' },
)

export const HistoryPage = Page(
  'HistoryPage',
  { versions: Type.Array(PastVersionReply) },
  'Replaced and deleted files, newest end first.',
)

export const RestoreBody = Type.Object(
  {
    name: Type.Optional(
      Type.String({ description: 'The name of the restored file. The default is the one it had.' }),
    ),
    overwrite: Type.Optional(
      Type.Boolean({
        description:
          'Whether to replace a file that has the name. That one becomes history. By default, the request gets 409 ' +
          'when such a file exists.',
      }),
    ),
  },
  { title: 'Restore', additionalProperties: false, examples: [{ overwrite: true }] },
)

export const RESTORE_REQUEST = withParsed(RestoreBody, { name: FILE_NAME_SCHEMA })

export function historyPage(page: {
  readonly versions: readonly PastVersion[]
  readonly next: EndPosition | undefined
}) {
  const { versions, next } = page
  return {
    versions: versions.map(pastVersionReply),
    next_cursor: next === undefined ? null : formatCursor([next.endedAt, next.version]),
  }
}

function pastVersionReply(past: PastVersion) {
  return {
    version: past.version,
    name: past.name,
    size: past.size,
    sha256: past.sha256,
    visibility: past.visibility,
    ...descriptionReply(past),
    created_at: formatTimestamp(past.createdAt),
    ended_at: formatTimestamp(past.endedAt),
    ended_as: past.endedAs,
    expires_at: formatTimestamp(past.expiresAt),
  }
}

/** For `parseCursor`. */
export function endIn([endedAt, version, another]: Key): EndPosition | undefined {
  if (typeof endedAt !== 'number' || endedAt < 0 || another !== undefined) return undefined
  return typeof version === 'string' && isVersion(version) ? { endedAt, version } : undefined
}
