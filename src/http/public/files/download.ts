import type { FastifyRequest } from 'fastify'
import { assertPermits } from '../../../core/auth/scope.ts'
import { fileNotFound } from '../../../core/files/file.ts'
import type { ReadFile } from '../../../core/repository.ts'
import { isUserId } from '../../../core/users/user-id.ts'
import { serveContent } from '../../download/serve-content.ts'
import { Type } from '../../openapi/type.ts'
import { fileNameParam } from '../../routes/files/file-resource.ts'
import { requireUser, viewerOf } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { DOWNLOADS } from '../../routes/files/download.openapi.ts'

const Params = Type.Object({ user_id: Type.String(), file_name: Type.String() })

/** Conditions are evaluated only if the caller may see the file, so that they reveal nothing to anyone else. */
export const downloadRoutes: UserPlugin = async (app, { useCases: { repository }, ...serving }) => {
  serveContent(app, serving, {
    url: '/users/:user_id/repo/:file_name',
    route: { schema: { params: Params }, config: { operation: DOWNLOADS } },
    wanted,
    stat: (file) => repository.stat(file),
    open: (file) => repository.open(file),
  })
}

function wanted(request: FastifyRequest): ReadFile {
  const params = request.params as { readonly user_id: string; readonly file_name: string }
  const owner = params.user_id === 'me' ? requireUser(request, ['read']).userId : params.user_id
  const name = fileNameParam(params.file_name)
  if (!isUserId(owner)) throw fileNotFound()
  const viewer = viewerOf(request, owner)
  if (viewer?.userId === owner) assertPermits(viewer, ['read'], name)
  return { userId: owner, name, viewer }
}
