import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ACTIONS, assertPermits, permits, type Scoped } from '../../../core/auth/scope.ts'
import { type AppError, formatError } from '../../../core/errors.ts'
import { type FileName, type FileNamePrefix, parseFileName } from '../../../core/files/file-name.ts'
import { NEVER, VISIBILITIES, type Visibility } from '../../../core/files/file.ts'
import {
  MAX_MEDIA_TYPE_BYTES,
  MEDIA_TYPE_PATTERN,
  parseMediaType,
} from '../../../core/files/media-type.ts'
import { parseMetadataPatch } from '../../../core/files/metadata.ts'
import type { UpdateTerms } from '../../../core/files/operation.ts'
import { parseTimestamp } from '../../../core/timestamp.ts'
import { described, withParsed } from '../../openapi/operation.ts'
import { FILE_NAME, FILE_NAME_SCHEMA, PRECONDITIONS } from '../../openapi/parameters.ts'
import { Type } from '../../openapi/type.ts'
import { sendProblem } from '../../server/problem.ts'
import {
  namedFile,
  seenFile,
  SeenFileReply,
  writePrecondition,
} from '../../routes/files/file-resource.ts'
import { requireUser, scopeFirst } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { OWN_FILE_PATH } from './file.ts'
import { permittedVisibility } from '../../routes/files/upload-query.ts'

/** What a change can set, besides the name. */
export const TERMS = {
  visibility: Type.Optional(Type.Unsafe<Visibility>({ type: 'string', enum: VISIBILITIES })),
  keep: Type.Optional(Type.Boolean({ description: 'Whether uploads that evict spare the file.' })),
  expires_at: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the file expires, in the future; `null` if it does not.',
    }),
  ),
  media_type: Type.Optional(
    Type.String({
      description: 'The media type of the content, such as `image/jpeg`, at most 255 bytes.',
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<object | null>({
      type: ['object', 'null'],
      description:
        'Merged into the metadata (RFC 7396): `null` removes a member, or all of them. What results has at most 2 KiB.',
    }),
  ),
}

/** What `TERMS` leave to their parsers. */
export const PARSED_TERMS = {
  media_type: {
    maxLength: MAX_MEDIA_TYPE_BYTES,
    pattern: MEDIA_TYPE_PATTERN,
    examples: ['image/jpeg'],
  },
  metadata: {
    additionalProperties: { type: ['string', 'null'] },
    examples: [{ camera: 'back door', draft: null }],
  },
}

const Body = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'The new file name.' })),
    ...TERMS,
    overwrite: Type.Optional(
      Type.Boolean({
        description:
          'Whether to replace a file that already has the new name. By default, the request gets 409 when such a ' +
          'file exists.',
      }),
    ),
  },
  {
    title: 'Change',
    description: 'What is to change of the file: at least one member besides `overwrite`.',
    additionalProperties: false,
    examples: [{ name: 'notes.md', visibility: 'users' }],
  },
)

export const updateRoutes: UserPlugin = async (app, { useCases: { repository } }) => {
  // Checked first, so that only a client with a token and a file name learns what the body should look like. Which action
  // a token lacks that permits none of them is said by the body.
  const onRequest = async (request: FastifyRequest) => {
    const caller = requireUser(request, ACTIONS)
    if (CHANGE_ACTIONS.some((action) => permits(caller, action))) namedFile(request, CHANGE_ACTIONS)
  }
  const errorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    void sendProblem(scopeFirst(error, request, CHANGE_ACTIONS), request, reply)

  app.patch(OWN_FILE_PATH, { ...CHANGE, onRequest, errorHandler }, async (request) => {
    const { name, overwrite, ...terms } = request.body
    if (name === undefined && !changesTerms(terms)) throw nothingToChange()
    const change = permittedChange(requireUser(request, ACTIONS), {
      ...terms,
      newName: name,
      overwrite,
    })
    const file = namedFile(request, CHANGE_ACTIONS)
    const { subject } = file
    const precondition = writePrecondition(request, subject)
    const changed = await repository.change({ ...file, ...change, precondition })
    return seenFile(subject, changed)
  })
}

/** `TERMS` in a body. */
export type AskedTerms = Static<ReturnType<typeof Type.Object<typeof TERMS>>>

export function changesTerms(asked: AskedTerms): boolean {
  return Object.keys(TERMS).some((member) => member in asked)
}

/** Throws as the parsers of the members do, and `scope_insufficient` for what the caller may not change. */
export function permittedChange(
  caller: Scoped,
  asked: AskedTerms & {
    readonly newName?: string | undefined
    readonly overwrite?: boolean | undefined
  },
): UpdateTerms {
  const { newName: text, visibility, keep: isKept, expires_at: expiry, overwrite = false } = asked
  const { media_type: type, metadata } = asked
  const others = [isKept, expiry, type, metadata]
  if (others.some((value) => value !== undefined)) assertPermits(caller, ['replace'])
  // A file that expires leaves no history.
  if (typeof expiry === 'string') assertPermits(caller, ['history'])
  if (text !== undefined) assertPermits(caller, ['delete'])
  const newName = text === undefined ? undefined : parseFileName(text)
  if (newName !== undefined) assertMayRename(caller, { newName, overwrite })
  return {
    newName,
    visibility: permittedVisibility(caller, visibility),
    isKept,
    expiresAt: expiry === undefined ? undefined : parseExpiry(expiry),
    mediaType: type === undefined ? undefined : parseMediaType(type),
    metadata: metadata === undefined ? undefined : parseMetadataPatch(metadata),
    overwrite,
  }
}

/** A change needs at least one of these. */
export const CHANGE_ACTIONS = ['share', 'delete', 'replace'] as const

function parseExpiry(text: string | null): number {
  return text === null ? NEVER : parseTimestamp(text, 'expires_at')
}

interface NewName {
  /** Or what the new names begin with. */
  readonly newName: FileName | FileNamePrefix
  readonly overwrite: boolean
}

/** Whether or not there is a file to overwrite, so that the answer tells nothing about it. */
export function assertMayRename(caller: Scoped, { newName, overwrite }: NewName): void {
  assertPermits(caller, ['create'], newName)
  if (overwrite) assertPermits(caller, ['replace'])
}

function nothingToChange(): AppError {
  return formatError(`The body must contain at least one of ${MEMBERS.join(', ')}.`)
}

const MEMBERS = ['name', ...Object.keys(TERMS)]

const CHANGE = described({
  operationId: 'updateFile',
  summary: "Rename one of the caller's files, or change what is said of it",
  description:
    'The content, its version and its ETag stay the same. The body is JSON in UTF-8 of at most 16 KiB.',
  tag: 'files',
  parameters: { path: { file_name: FILE_NAME }, header: PRECONDITIONS },
  body: Body,
  jsonBody: {
    ...withParsed(Body, { ...PARSED_TERMS, name: FILE_NAME_SCHEMA }),
    // An empty change has its own error code.
    anyOf: MEMBERS.map((member) => ({ required: [member] })),
  },
  response: { 200: SeenFileReply },
  responses: {
    200: {
      description: 'The file after the change.',
      example: { name: 'notes.md', visibility: 'users' },
    },
  },
  problems: ['not_found', 'file_exists'],
})
