import type { FastifyRequest } from 'fastify'
import { availableBytes } from '../../../core/quota/capacity.ts'
import { invalidParameter } from '../../../core/errors.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import type { CommittedUpload } from '../../../core/ledger/ledger.ts'
import {
  FileReply,
  fileReply,
  type FileRouteOptions,
  OWN_FILE_PATH,
  ownFile,
} from '../file-resource.ts'
import { Bytes } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { expectsContinue, tellToContinue } from '../../server/unread-body.ts'
import { minFileSize, openFileForm } from '../../multipart/file-form.ts'
import { openRawBody } from '../../body/raw-body.ts'
import { parseReprDigest } from '../../headers/content-headers.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { FORM_UPLOAD, RAW_UPLOAD } from './upload.openapi.ts'

const Query = Type.Object({ visibility: Type.Optional(Type.Unknown()) })

const Reply = Type.Intersect(
  [
    FileReply,
    Type.Object({
      replaced: Type.Boolean({
        description: 'Whether the upload replaced a file with the same name.',
      }),
      capacity: Type.Object({
        capacity: Bytes('Capacity of the repository, in bytes.'),
        used: Bytes('Bytes used by files, including this one.'),
        reserved: Bytes('Bytes reserved by uploads in progress.'),
        available: Bytes('Bytes that are still available.'),
      }),
    }),
  ],
  {
    title: 'UploadedFile',
    description: 'The uploaded file, and the capacity after the upload.',
  },
)

export const uploadRoutes: FastifyPluginAsyncTypebox<FileRouteOptions> = async (app, options) => {
  const { repository, shutdown, idleTimeoutMs } = options
  const schema = { querystring: Query, response: { 200: Reply } }

  app.post(OWN_FILE_PATH, { schema, config: FORM_UPLOAD }, async (request, reply) => {
    const target = targetOf(request)
    const asked = parseVisibility(request.query.visibility)
    const signal = requestSignal(reply, shutdown)
    async function onStart(): Promise<void> {
      await repository.admit({ ...target, min: minFileSize(request) })
      tellToContinue(request, reply)
    }
    const form = { signal, idleTimeoutMs, ...(expectsContinue(request) && { onStart }) }
    using incoming = await openFileForm(request, form)
    const visibility = () => agree(asked, parseVisibility(incoming.field('visibility')))
    return toReply(await repository.upload({ ...target, visibility, incoming, signal }))
  })

  // The service does not store the type, so a malformed type is not an error.
  const onRequest = async ({ raw }: FastifyRequest) => void delete raw.headers['content-type']

  app.put(OWN_FILE_PATH, { schema, onRequest, config: RAW_UPLOAD }, async (request, reply) => {
    const target = targetOf(request)
    const asked = parseVisibility(request.query.visibility)
    const signal = requestSignal(reply, shutdown)
    using incoming = openRawBody(request, { signal, idleTimeoutMs })
    if (expectsContinue(request)) {
      await repository.admit({ ...target, min: incoming.size.min })
      tellToContinue(request, reply)
    }
    const visibility = () => asked
    const committed = await repository.upload({ ...target, visibility, incoming, signal })
    // RFC 9110 section 9.3.4 allows this because the content is stored byte for byte.
    void reply.header('etag', `"${committed.file.version}"`)
    return toReply(committed)
  })
}

function targetOf(request: FastifyRequest) {
  const { headers } = request
  const file = ownFile(request)
  const precondition = parseWritePrecondition(headers)
  return { ...file, precondition, sha256: parseReprDigest(headers['repr-digest']?.toString()) }
}

function agree(
  query: Visibility | undefined,
  field: Visibility | undefined,
): Visibility | undefined {
  if (query === undefined || field === undefined || query === field) return query ?? field
  throw invalidParameter(
    'visibility',
    'The query parameter "visibility" and the form field "visibility" have different values.',
  )
}

function toReply({ file, replaced, usage }: CommittedUpload) {
  const { capacity, used, reserved } = usage
  return {
    ...fileReply(file),
    replaced,
    capacity: { capacity, used, reserved, available: availableBytes(usage) },
  }
}
