import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/errors.ts'
import { parseVisibility, VISIBILITIES } from '../../../core/files/file.ts'
import { parseFileName } from '../../../core/files/file-name.ts'
import {
  FILE_EXAMPLE,
  FileReply,
  fileReply,
  type FileRouteOptions,
  OWN_FILE_PATH,
  ownFile,
  OwnFileParams,
} from '../file-resource.ts'
import { takeJson } from '../../body/json-body.ts'
import { jsonRequestBody } from '../../openapi/json-request-body.ts'
import { FILE_NAME, FILE_NAME_SCHEMA, PRECONDITIONS } from '../../openapi/parameters.ts'
import { ALWAYS, OWN_WRITE } from '../../openapi/problem-responses.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'

const Body = Type.Object(
  {
    name: Type.Optional(Type.String()),
    visibility: Type.Optional(Type.String()),
    overwrite: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

/** `PATCH /users/me/repo/{file_name}`: renames the file or changes who may see it; its content is not touched. */
export const updateRoutes: FastifyPluginAsyncTypebox<FileRouteOptions> = async (app, options) => {
  const { repository } = options
  takeJson(app, options)
  const schema = { params: OwnFileParams, body: Body, response: { 200: FileReply } }

  // Who has no token, or names no file, learns nothing of how the body should look.
  const onRequest = async (request: FastifyRequest) => void ownFile(request)

  const route = { schema, onRequest, config: CHANGE }
  app.patch(OWN_FILE_PATH, route, async (request) => {
    const { name: newName, visibility, overwrite = false } = request.body
    if (newName === undefined && visibility === undefined) throw nothingToChange()
    const changed = await repository.change({
      ...ownFile(request),
      newName: newName === undefined ? undefined : parseFileName(newName),
      visibility: parseVisibility(visibility),
      overwrite,
      precondition: parseWritePrecondition(request.headers),
    })
    return fileReply(changed)
  })
}

function nothingToChange(): AppError {
  return new AppError('format_error', 'The body names neither a name nor a visibility.')
}

const CHANGE = {
  operation: {
    operationId: 'changeFile',
    summary: 'Rename an own file, or change who may read it',
    description:
      'The content, its version and its etag stay. A body of JSON in UTF-8, of at most 16 KiB.',
    tag: 'files',
    credentials: 'required',
    parameters: [FILE_NAME, ...PRECONDITIONS],
    requestBody: jsonRequestBody({
      required: true,
      schema: {
        title: 'Change',
        type: 'object',
        description: 'Names a name, a visibility, or both.',
        additionalProperties: false,
        anyOf: [{ required: ['name'] }, { required: ['visibility'] }],
        properties: {
          name: { ...FILE_NAME_SCHEMA, description: 'The new name, of at most 255 bytes.' },
          visibility: { type: 'string', enum: VISIBILITIES },
          overwrite: {
            type: 'boolean',
            default: false,
            description: 'Whether a file that has the new name is replaced; else 409.',
          },
        },
      },
      example: { name: 'notes.md', visibility: 'users' },
    }),
    responses: {
      200: {
        description: 'The file as it is now.',
        example: { ...FILE_EXAMPLE, name: 'notes.md', visibility: 'users' },
      },
    },
    problems: [...ALWAYS, ...OWN_WRITE, 'truncated_body', 'not_found', 'file_exists'],
  },
} as const satisfies FastifyContextConfig
