import type { FastifyRequest } from 'fastify'
import { type Action, assertMayCompare, mayRead, type Scoped } from '../../../core/auth/scope.ts'
import { nameFor, type Subject } from '../../../core/auth/subject.ts'
import { type FileName, parseFileName } from '../../../core/files/file-name.ts'
import {
  type ContentDescription,
  type File,
  type FileVersion,
  NEVER,
  VISIBILITIES,
} from '../../../core/files/file.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import { membersOf } from '../../../core/files/metadata.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { servedMediaType } from '../../../core/files/served-media-type.ts'
import {
  Bytes,
  EXAMPLE_SHA256,
  OneOf,
  Strings,
  Text,
  Time,
  TextOrNull,
  TimeOrNull,
} from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { pathNotFound } from '../../server/problem.ts'
import { subjectOf } from '../../server/request-subject.ts'

/**
 * The name of the file, which is all that follows in the path of a route that ends in `/*`; the router has decoded it, so
 * `%2F` is a slash too. Throws `not_found` if it is empty, else as `parseFileName` does.
 */
export function fileNameIn({ params }: FastifyRequest): FileName {
  const { '*': path } = params as { readonly '*': string }
  if (path === '') throw pathNotFound()
  return parseFileName(path)
}

/** The file in the path, as its owner calls it, and who names it. */
export interface NamedFile {
  readonly subject: Subject
  readonly name: FileName
}

/** Throws as `subjectOf`, `fileNameIn` and `nameFor` do. */
export function namedFile(
  request: FastifyRequest,
  anyOf: readonly [Action, ...Action[]],
): NamedFile {
  const subject = subjectOf(request, anyOf)
  return { subject, name: nameFor(subject, fileNameIn(request)) }
}

/** The preconditions of a change. Throws as their parser and `assertMayCompare` do. */
export function writePrecondition(
  { headers }: FastifyRequest,
  subject: Scoped,
): Precondition | undefined {
  const precondition = parseWritePrecondition(headers)
  assertMayCompare(subject, precondition)
  return precondition
}

const VERSION = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

/** What a file, current or past, has in every response. */
export const DESCRIPTION = {
  device_id: TextOrNull('The device whose token stored the content.', 'camera-17'),
  media_type: Text(
    'The media type of the content, as the client stated it, else by the extension of the name.',
    'text/markdown',
  ),
  metadata: Strings('What the client keeps with the file: strings by name.', {
    camera: 'front door',
  }),
}

const MEMBERS = {
  name: Text(
    'The file name, unique in the repository. Names are compared byte by byte.',
    'README.md',
  ),
  user_id: Text('The owner of the file.', 'alice'),
  size: Bytes('Size of the content, in bytes.', 6143),
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of the content, in lower-case hexadecimal.',
    examples: [EXAMPLE_SHA256],
  }),
  etag: Text('The value of the header `ETag`, without its quotes.', VERSION),
  version: Text('Identifies the upload that stored this content.', VERSION),
  visibility: OneOf(
    VISIBILITIES,
    'Who may download the file: only its owner (`private`), any user with a valid token (`users`) or everyone ' +
      '(`public`).',
  ),
  created_at: Time('When a file with this name was first uploaded.'),
  updated_at: Time('When the file last changed. A change of its visibility alone does not count.'),
  expires_at: TimeOrNull('When the file expires.'),
  ...DESCRIPTION,
  keep: Type.Boolean({
    description: 'Whether uploads that evict spare the file.',
    examples: [false],
  }),
}

export const FileReply = Type.Object(MEMBERS, {
  title: 'StoredFile',
  description: 'The metadata of a file.',
})

type FileJson = ReturnType<typeof fileReply>

export type SeenFile = Pick<FileJson, 'name' | 'user_id'> & Partial<FileJson>

export const SeenFileReply = Type.Unsafe<SeenFile>({
  type: 'object',
  required: ['name', 'user_id'],
  properties: MEMBERS,
  title: 'SeenFile',
  description:
    'The metadata of a file, as far as the caller may see them: a token that may not `read` the file gets `name` and ' +
    '`user_id` and, of an upload, what the upload has said itself.',
})

/** What a caller is told of a file that it has changed, or of which it knows the version. */
export function seenFile(caller: Scoped, file: File): SeenFile {
  return mayRead(caller, file.name) ? fileReply(file) : { name: file.name, user_id: file.userId }
}

export function fileReply(file: File) {
  return {
    name: file.name,
    user_id: file.userId,
    size: file.size,
    sha256: file.sha256,
    etag: file.version,
    version: file.version,
    visibility: file.visibility,
    created_at: formatTimestamp(file.createdAt),
    updated_at: formatTimestamp(file.updatedAt),
    expires_at: file.expiresAt < NEVER ? formatTimestamp(file.expiresAt) : null,
    keep: file.isKept === 1,
    ...descriptionReply(file),
  }
}

export function descriptionReply(
  file: ContentDescription & Pick<FileVersion, 'name' | 'deviceId'>,
) {
  return {
    device_id: file.deviceId,
    media_type: servedMediaType(file),
    metadata: membersOf(file.metadata),
  }
}
