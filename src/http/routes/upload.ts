import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { availableBytes } from '../../core/capacity.ts'
import { parseVisibility } from '../../core/file.ts'
import type { FileName } from '../../core/file-name.ts'
import type { CommittedUpload } from '../../core/ledger.ts'
import type { Repository } from '../../core/repository.ts'
import type { User } from '../../core/user-store.ts'
import { fileNameParam } from '../file-name-param.ts'
import { requireUser } from '../plugins/access-token.ts'
import { expectsContinue, tellToContinue } from '../plugins/expect-continue.ts'
import { leastFileSize, openFileForm } from '../plugins/multipart-upload.ts'
import { requestSignal } from '../request-signal.ts'

export interface UploadOptions {
  readonly repository: Repository
  readonly shutdown: AbortSignal
  /** How long a body may stop coming, in milliseconds. */
  readonly idleTimeoutMs: number
}

const Params = Type.Object({ file_name: Type.String() })

const Query = Type.Object({ visibility: Type.Optional(Type.Unknown()) })

const Reply = Type.Object({
  name: Type.String(),
  user_id: Type.String(),
  size: Type.Integer(),
  sha256: Type.String(),
  etag: Type.String(),
  version: Type.String(),
  visibility: Type.String(),
  replaced: Type.Boolean(),
  created_at: Type.String(),
  updated_at: Type.String(),
  capacity: Type.Object({
    capacity: Type.Integer(),
    used: Type.Integer(),
    reserved: Type.Integer(),
    available: Type.Integer(),
  }),
})

/** `POST /users/me/repo/{file_name}`: a form with one file part, streamed to the object store as it comes. */
export const uploadRoutes: FastifyPluginAsyncTypebox<UploadOptions> = async (app, options) => {
  const { repository, shutdown, idleTimeoutMs } = options
  const schema = { params: Params, querystring: Query, response: { 200: Reply } }

  app.post('/users/me/repo/:file_name', { schema }, async (request, reply) => {
    const user = requireUser(request)
    const name = fileNameParam(request.params.file_name)
    const visibility = parseVisibility(request.query.visibility)
    const signal = requestSignal(reply, shutdown)
    if (expectsContinue(request)) await admit(request, { user, name })
    using incoming = await openFileForm(request, {
      signal,
      idleTimeoutMs,
      onStart: () => tellToContinue(request, reply),
    })
    const target = { userId: user.userId, name, visibility: () => visibility }
    return toReply(await repository.upload({ ...target, incoming, signal }))
  })

  async function admit(request: FastifyRequest, file: { user: User; name: FileName }) {
    const least = leastFileSize(request)
    await repository.admit({ userId: file.user.userId, name: file.name, least })
  }
}

function toReply({ file, replaced, usage }: CommittedUpload) {
  const { capacity, used, reserved } = usage
  return {
    name: file.name,
    user_id: file.userId,
    size: file.size,
    sha256: file.sha256,
    etag: file.version,
    version: file.version,
    visibility: file.visibility,
    replaced,
    created_at: new Date(file.createdAt).toISOString(),
    updated_at: new Date(file.updatedAt).toISOString(),
    capacity: { capacity, used, reserved, available: availableBytes(usage) },
  }
}
