import { Type, type FastifyPluginAsyncTypebox, type Static } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { parseVisibility } from '../../core/file.ts'
import { type FileName, parseFileName } from '../../core/file-name.ts'
import type { Repository } from '../../core/repository.ts'
import type { UserId } from '../../core/user-id.ts'
import { fileNameParam } from '../file-name-param.ts'
import { FileReply, fileReply } from '../file-reply.ts'
import { takeJson, type TakeJsonOptions } from '../json-body.ts'
import { requireUser } from '../plugins/access-token.ts'
import { parseWritePrecondition } from '../preconditions.ts'

export interface ChangeOptions extends TakeJsonOptions {
  readonly repository: Repository
}

const Params = Type.Object({ file_name: Type.String() })

const Body = Type.Object(
  {
    name: Type.Optional(Type.String()),
    visibility: Type.Optional(Type.String()),
    overwrite: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

/** `PATCH /users/me/repo/{file_name}`: renames the file or changes who may see it; its content is not touched. */
export const changeRoutes: FastifyPluginAsyncTypebox<ChangeOptions> = async (app, options) => {
  const { repository } = options
  takeJson(app, options)
  const schema = { params: Params, body: Body, response: { 200: FileReply } }

  // Who has no token, or names no file, learns nothing of how the body should look.
  const onRequest = async (request: FastifyRequest) => void fileOf(request)

  app.patch('/users/me/repo/:file_name', { schema, onRequest }, async (request) => {
    const { name: newName, visibility, overwrite = false } = request.body
    if (newName === undefined && visibility === undefined) throw nothingToChange()
    const changed = await repository.change({
      ...fileOf(request),
      newName: newName === undefined ? undefined : parseFileName(newName),
      visibility: parseVisibility(visibility),
      overwrite,
      precondition: parseWritePrecondition(request.headers),
    })
    return fileReply(changed)
  })
}

function fileOf(request: FastifyRequest): { userId: UserId; name: FileName } {
  const { userId } = requireUser(request)
  const { file_name } = request.params as Static<typeof Params>
  return { userId, name: fileNameParam(file_name) }
}

function nothingToChange(): AppError {
  return new AppError('format_error', 'The body names neither a name nor a visibility.')
}
