import type { FastifyInstance } from 'fastify'
import { narrowPrecondition } from '../../../core/auth/scope.ts'
import { nameFor } from '../../../core/auth/subject.ts'
import type { Operation, Schemas } from '../../openapi/operation.ts'
import * as operations from '../uploads/operations.ts'
import { sendTusProblem } from '../uploads/resumable.ts'
import { type Handler, overridden, tusHandlers } from '../uploads/routes.ts'
import { TUS_VERSION } from '../uploads/tus-headers.ts'
import { type UploadAccess, uploadId } from '../uploads/upload-access.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_PATH, type LinkOptions, secretOf, visitorOf } from './visit.ts'
import { toldOnDrop, toldToVisitor } from './visitor-problems.ts'

/** Ends in a slash, because a file may have the name `uploads`. */
const LINK_UPLOADS = `${LINK_PATH}/uploads/`
const LINK_UPLOAD = `${LINK_UPLOADS}:upload_id`

/** tus by a drop link. Registered below `requireLink`. */
export async function linkUploadRoutes(app: FastifyInstance, options: LinkOptions): Promise<void> {
  const { links, uploads } = options.useCases
  const handlers = tusHandlers(uploads, linkAccess(options))
  const { refuseOtherVersions: onRequest, create, cancel } = handlers
  // What an append leaves behind when it fails is garbage of the owner.
  const append: Handler = async (request, reply) => {
    await links.admitAppend(visitorOf(request, 'create'))
    return await handlers.append(request, reply)
  }
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'tus-resumable': TUS_VERSION, 'cache-control': 'no-store' })
  })
  app.setErrorHandler((error, request, reply) =>
    sendTusProblem(toldToVisitor(error, request), request, reply),
  )
  app.post(LINK_UPLOADS, { config: { operation: CREATE }, onRequest }, async (request, reply) => {
    // An upload that is created counts by itself.
    using _ = await links.beginDrop(visitorOf(request, 'create'))
    return await create(request, reply)
  })
  app.head(LINK_UPLOAD, { config: { operation: OFFSET } }, handlers.offset)
  app.patch(LINK_UPLOAD, { config: { operation: APPEND }, onRequest }, append)
  app.delete(LINK_UPLOAD, { config: { operation: CANCEL }, onRequest }, cancel)
  app.post(
    LINK_UPLOAD,
    { config: { operation: OVERRIDE }, onRequest },
    overridden({ append, cancel }, 'HEAD, PATCH, DELETE'),
  )
}

/** An upload belongs to the link that created it, and is continued by it alone. */
function linkAccess({ useCases: { uploads }, basePath }: LinkOptions): UploadAccess {
  return {
    assert: (request) => void visitorOf(request, 'create'),
    create(request, { name }) {
      const subject = visitorOf(request, 'create')
      return {
        subject,
        name: nameFor(subject, name),
        visibility: undefined,
        precondition: narrowPrecondition(subject, undefined),
      }
    },
    async find(request) {
      const upload = { subject: visitorOf(request, 'create'), version: uploadId(request) }
      await uploads.find(upload)
      return upload
    },
    locationOf: (request, version) => `${basePath}/links/${secretOf(request)}/uploads/${version}`,
  }
}

/** An operation on an own upload, as it is on a drop. */
function ofDrop(
  own: Operation,
  drop: Pick<Operation, 'operationId' | 'summary' | 'description'> & { readonly header?: Schemas },
): Operation {
  const { header, ...described } = drop
  const { requestBody, responses, problems = [] } = own
  return {
    tag: 'links',
    credentials: 'none',
    parameters: {
      path: { secret: LINK_SECRET, upload_id: operations.UPLOAD_ID_PARAM },
      header: { 'Tus-Resumable': operations.TUS_RESUMABLE, ...header },
    },
    ...(requestBody && { requestBody }),
    responses,
    problems: ['not_found', 'link_password_required', ...toldOnDrop(problems)],
    ...described,
  }
}

const CREATE: Operation = {
  ...ofDrop(operations.CREATE, {
    operationId: 'createDrop',
    summary: 'Create a resumable upload by a drop link',
    description:
      'As `POST /users/me/uploads`. The key `filename` of `Upload-Metadata` is the name without the prefix of the link. ' +
      'Preconditions, `visibility` and `metadata` are ignored.',
  }),
  parameters: { path: { secret: LINK_SECRET }, header: operations.CREATE_HEADERS },
}

const OFFSET = ofDrop(operations.OFFSET, {
  operationId: 'getDropOffset',
  summary: 'Get the offset at which to continue a drop',
  description: operations.OFFSET.description,
  header: { 'Tus-Resumable': operations.TUS_RESUMABLE_OR_NONE },
})

const APPEND = ofDrop(operations.APPEND, {
  operationId: 'appendToDrop',
  summary: 'Append bytes to a drop',
  header: operations.PATCH_HEADERS,
})

const CANCEL = ofDrop(operations.CANCEL, {
  operationId: 'cancelDrop',
  summary: 'Cancel a drop',
})

const OVERRIDE = ofDrop(operations.OVERRIDE, {
  operationId: 'postToDrop',
  summary: 'Append to a drop, or cancel it, without PATCH and DELETE',
  header: operations.OVERRIDE_HEADERS,
})
