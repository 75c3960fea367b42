import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { File } from '../../core/file.ts'
import { AppError } from '../../core/errors.ts'
import type { ReadFile, Repository } from '../../core/repository.ts'
import { isUserId } from '../../core/user-id.ts'
import { contentDisposition } from '../content-disposition.ts'
import { fileNameParam } from '../file-name-param.ts'
import { requireUser } from '../plugins/access-token.ts'
import { requestSignal } from '../request-signal.ts'

export interface DownloadOptions {
  readonly repository: Repository
  readonly shutdown: AbortSignal
}

const Params = Type.Object({ user_id: Type.String(), file_name: Type.String() })

/** `GET` and `HEAD` of `/users/{me|user_id}/repo/{file_name}`: the raw content, for whoever may see the file. */
export const downloadRoutes: FastifyPluginAsyncTypebox<DownloadOptions> = async (app, options) => {
  const { repository, shutdown } = options
  const url = '/users/:user_id/repo/:file_name'

  app.get(url, { schema: { params: Params } }, async (request, reply) => {
    const signal = requestSignal(reply, shutdown)
    const { file, body } = await repository.open({ ...wanted(request, request.params), signal })
    describe(file, reply)
    return reply.send(body)
  })

  // A route of its own, since the one Fastify makes would read the whole object to throw it away.
  app.head(url, { schema: { params: Params } }, async (request, reply) => {
    describe(await repository.stat(wanted(request, request.params)), reply)
    return reply.send()
  })
}

function wanted(request: FastifyRequest, params: { user_id: string; file_name: string }): ReadFile {
  const owner = params.user_id === 'me' ? requireUser(request).userId : params.user_id
  const name = fileNameParam(params.file_name)
  if (!isUserId(owner)) throw new AppError('not_found', 'There is no such file.')
  return { userId: owner, name, viewer: request.user?.userId }
}

/** The headers of a download. Whatever the content is, a browser shall save it and never run it. */
function describe(file: File, reply: FastifyReply): void {
  void reply.headers({
    'content-type': 'application/octet-stream',
    'content-length': file.size,
    'content-disposition': contentDisposition(file.name),
    etag: `"${file.version}"`,
    'last-modified': new Date(file.updatedAt).toUTCString(),
    'cache-control': 'private, no-cache',
    vary: 'Cookie',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  })
}
