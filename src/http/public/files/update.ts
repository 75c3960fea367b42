import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { type AppError, formatError } from '../../../core/errors.ts'
import { NEVER, VISIBILITIES, type Visibility } from '../../../core/files/file.ts'
import { assertPermits } from '../../../core/auth/scope.ts'
import { type FileName, parseFileName } from '../../../core/files/file-name.ts'
import {
  MAX_MEDIA_TYPE_BYTES,
  MEDIA_TYPE_PATTERN,
  parseMediaType,
} from '../../../core/files/media-type.ts'
import { parseMetadataPatch } from '../../../core/files/metadata.ts'
import type { FileUpdate } from '../../../core/files/update.ts'
import {
  FileReply,
  fileReply,
  type FileRouteOptions,
  OWN_FILE_PATH,
  type OwnFile,
  ownFile,
} from './file-resource.ts'
import { permittedVisibility } from './file-upload.ts'
import { parseTimestamp } from '../../../core/timestamp.ts'
import { takeJson } from '../../body/json-body.ts'
import { described } from '../../openapi/operation.ts'
import { jsonRequestBody } from '../../openapi/operation-object.ts'
import { FILE_NAME, FILE_NAME_SCHEMA, PRECONDITIONS } from '../../openapi/parameters.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'

const Body = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'The new file name, at most 255 bytes.' })),
    visibility: Type.Optional(Type.Unsafe<Visibility>({ type: 'string', enum: VISIBILITIES })),
    keep: Type.Optional(
      Type.Boolean({ description: 'Whether uploads that evict spare the file.' }),
    ),
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
    overwrite: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether to replace a file that already has the new name. If `false`, the request gets 409 when such a ' +
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

export const updateRoutes: FastifyPluginAsyncTypebox<FileRouteOptions> = async (app, options) => {
  const { repository } = options
  takeJson(app, options)

  // Checked first, so that only a client with a token and a file name learns what the body should look like.
  const onRequest = async (request: FastifyRequest) => void ownFile(request, ...CHANGE_ACTIONS)

  app.patch(OWN_FILE_PATH, { ...CHANGE, onRequest }, async (request) => {
    const { overwrite = false, ...asked } = request.body
    if (Object.keys(asked).length === 0) throw nothingToChange()
    const file = ownFile(request, ...CHANGE_ACTIONS)
    const changed = await repository.change({
      ...file,
      ...permittedUpdate(file, asked, overwrite),
      overwrite,
      precondition: parseWritePrecondition(request.headers),
    })
    return fileReply(changed)
  })
}

/** Throws if a value is invalid, or the caller's scope does not permit one of the changes. */
function permittedUpdate(file: OwnFile, asked: Asked, overwrite: boolean): FileUpdate {
  const { name, visibility, keep: isKept, expires_at: expiry, media_type: type, metadata } = asked
  const others = [isKept, expiry, type, metadata]
  if (others.some((value) => value !== undefined)) assertPermits(file, ['replace'])
  const newName = name === undefined ? undefined : parseFileName(name)
  if (newName !== undefined) assertMayRename(file, { newName, overwrite })
  return {
    newName,
    visibility: permittedVisibility(file, visibility),
    isKept,
    expiresAt: expiry === undefined ? undefined : parseExpiry(expiry),
    mediaType: type === undefined ? undefined : parseMediaType(type),
    metadata: metadata === undefined ? undefined : parseMetadataPatch(metadata),
  }
}

type Asked = Omit<Static<typeof Body>, 'overwrite'>

/** A change needs at least one of these. */
const CHANGE_ACTIONS = ['share', 'delete', 'replace'] as const

function parseExpiry(text: string | null): number {
  return text === null ? NEVER : parseTimestamp(text, 'expires_at')
}

/** Whether or not there is a file to overwrite, so that the answer tells nothing about it. */
function assertMayRename(
  file: OwnFile,
  { newName, overwrite }: { readonly newName: FileName; readonly overwrite: boolean },
): void {
  assertPermits(file, ['delete'])
  assertPermits(file, ['create'], newName)
  if (overwrite) assertPermits(file, ['replace'])
}

function nothingToChange(): AppError {
  return formatError(`The body must contain at least one of ${MEMBERS.join(', ')}.`)
}

const MEMBERS = Object.keys(Body.properties).filter((member) => member !== 'overwrite')

const CHANGE = described({
  operationId: 'changeFile',
  summary: "Rename one of the caller's files, or change what is said of it",
  description:
    'The content, its version and its ETag stay the same. The body is JSON in UTF-8 of at most 16 KiB.',
  tag: 'files',
  parameters: { path: { file_name: FILE_NAME }, header: PRECONDITIONS },
  body: Body,
  // Its parser checks the name, and that of the metadata their members. An empty change has its own error code.
  requestBody: jsonRequestBody({
    ...Body,
    anyOf: MEMBERS.map((member) => ({ required: [member] })),
    properties: {
      ...Body.properties,
      name: { ...FILE_NAME_SCHEMA, ...Body.properties.name },
      media_type: {
        ...Body.properties.media_type,
        maxLength: MAX_MEDIA_TYPE_BYTES,
        pattern: MEDIA_TYPE_PATTERN,
        examples: ['image/jpeg'],
      },
      metadata: {
        ...Body.properties.metadata,
        additionalProperties: { type: ['string', 'null'] },
        examples: [{ camera: 'back door', draft: null }],
      },
    },
  }),
  response: { 200: FileReply },
  responses: {
    200: {
      description: 'The file after the change.',
      example: { name: 'notes.md', visibility: 'users' },
    },
  },
  problems: ['not_found', 'file_exists'],
})
