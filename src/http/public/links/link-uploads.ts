import type { FastifyInstance, FastifyRequest } from 'fastify'
import { nameBehind } from '../../../core/links/link.ts'
import type { Version } from '../../../core/objects/object-key.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import type { ErrorCode } from '../../../core/error-codes.ts'
import type { Operation, Schemas } from '../../openapi/operation.ts'
import * as operations from '../uploads/operations.ts'
import {
  OVERRIDE_HEADERS,
  PATCH_HEADERS,
  TUS_RESUMABLE,
  TUS_RESUMABLE_OR_NONE,
  UPLOAD_ID_PARAM,
} from '../uploads/parameters.ts'
import { sendTusProblem } from '../uploads/resumable.ts'
import { type Handler, overridden, tusHandlers, tusLimits } from '../uploads/routes.ts'
import { TUS_VERSION } from '../uploads/tus-headers.ts'
import type { UploadAccess } from '../uploads/upload-access.ts'
import { uploadId } from '../uploads/upload-path.ts'
import { type LinkFileOptions, MUST_NOT_EXIST } from './link-files.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_PATH, secretOf, visitOf } from './visit.ts'
import { toldOnDrop, toldToVisitor } from './visitor-problems.ts'

export interface LinkUploadOptions extends LinkFileOptions {
  readonly uploads: ResumableUploads
  readonly basePath: string
  /** In bytes. */
  readonly maxFileSize: number
}

/** Ends in a slash, because a file may have the name `uploads`. */
const LINK_UPLOADS = `${LINK_PATH}/uploads/`
const LINK_UPLOAD = `${LINK_UPLOADS}:upload_id`

/** tus by a drop link. Registered below `requireLink`. */
export async function linkUploadRoutes(
  app: FastifyInstance,
  options: LinkUploadOptions,
): Promise<void> {
  const { links, uploads } = options
  const access = linkAccess(options)
  const handlers = tusHandlers(uploads, access)
  const { refuseOtherVersions: onRequest, create, cancel } = handlers
  // What an append leaves behind when it fails is garbage of the owner.
  const append: Handler = async (request, reply) => {
    await links.admitAppend(visitOf(request, 'drop'))
    return await handlers.append(request, reply)
  }
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'tus-resumable': TUS_VERSION, 'cache-control': 'no-store' })
  })
  app.setErrorHandler((error, request, reply) =>
    sendTusProblem(toldToVisitor(error, request), request, reply),
  )
  const limits = tusLimits(options.maxFileSize)
  const preflightMethods = ['POST', 'OPTIONS'] as const
  app.options(LINK_UPLOADS, { config: { preflightMethods } }, async (_request, reply) =>
    reply.code(204).headers(limits).send(),
  )
  app.post(LINK_UPLOADS, { config: { operation: CREATE }, onRequest }, async (request, reply) => {
    // An upload that is created counts by itself.
    using _ = await links.beginDrop(visitOf(request, 'drop'))
    return await create(request, reply)
  })
  app.head(LINK_UPLOAD, { config: { operation: OFFSET } }, handlers.offset)
  app.patch(LINK_UPLOAD, { config: { operation: APPEND }, onRequest }, append)
  app.delete(LINK_UPLOAD, { config: { operation: CANCEL }, onRequest }, cancel)
  app.post(
    LINK_UPLOAD,
    { config: { operation: OVERRIDE }, onRequest },
    overridden({ append, cancel }, 'HEAD, POST, PATCH, DELETE'),
  )
}

/** An upload belongs to the link that created it, and is continued by it alone. */
function linkAccess({ uploads, basePath }: LinkUploadOptions): UploadAccess {
  return {
    assert: (request) => void visitOf(request, 'drop'),
    create(request, { name }) {
      const { link, owner } = visitOf(request, 'drop')
      return {
        ...owner,
        name: nameBehind(link, name),
        visibility: undefined,
        precondition: MUST_NOT_EXIST,
        linkId: link.linkId,
      }
    },
    async find(request) {
      const { link, owner } = visitOf(request, 'drop')
      const version = uploadId(request)
      const { userId, userCreatedAt } = owner
      await uploads.find({ userId, userCreatedAt, version, linkId: link.linkId })
      return { ...owner, version }
    },
    locationOf: (request: FastifyRequest, version: Version) =>
      `${basePath}/links/${secretOf(request)}/uploads/${version}`,
  }
}

/** As those of an own upload, and of every request by a link. */
function problemsOf(own: { readonly problems: readonly ErrorCode[] }): readonly ErrorCode[] {
  return ['not_found', 'link_password_required', ...toldOnDrop(own.problems)]
}

function ofDrop(header: Schemas) {
  return {
    path: { secret: LINK_SECRET, upload_id: UPLOAD_ID_PARAM },
    header: { 'Tus-Resumable': TUS_RESUMABLE, ...header },
  }
}

const CREATE = {
  tag: 'links',
  credentials: 'none',
  operationId: 'createDrop',
  summary: 'Create a resumable upload by a drop link',
  description:
    'As `POST /users/me/uploads`. The key `filename` of `Upload-Metadata` is the name without the prefix of the link. ' +
    'Preconditions, `visibility` and `metadata` are ignored.',
  parameters: { path: { secret: LINK_SECRET }, header: operations.CREATE_HEADERS },
  requestBody: operations.CREATE.requestBody,
  responses: operations.CREATE.responses,
  problems: problemsOf(operations.CREATE),
} as const satisfies Operation

const OFFSET = {
  tag: 'links',
  credentials: 'none',
  operationId: 'getDropOffset',
  summary: 'Get the offset at which to continue a drop',
  description: operations.OFFSET.description,
  parameters: ofDrop({ 'Tus-Resumable': TUS_RESUMABLE_OR_NONE }),
  responses: { 200: operations.OFFSET.responses[200] },
  problems: problemsOf(operations.OFFSET),
} as const satisfies Operation

const APPEND = {
  tag: 'links',
  credentials: 'none',
  operationId: 'appendToDrop',
  summary: 'Append bytes to a drop',
  parameters: ofDrop(PATCH_HEADERS),
  requestBody: operations.OVERRIDE.requestBody,
  responses: operations.OVERRIDE.responses,
  problems: problemsOf(operations.APPEND),
} as const satisfies Operation

const CANCEL = {
  tag: 'links',
  credentials: 'none',
  operationId: 'cancelDrop',
  summary: 'Cancel a drop',
  parameters: ofDrop({}),
  responses: operations.CANCEL.responses,
  problems: problemsOf(operations.CANCEL),
} as const satisfies Operation

const OVERRIDE = {
  tag: 'links',
  credentials: 'none',
  operationId: 'postToDrop',
  summary: 'Append to a drop, or cancel it, without PATCH and DELETE',
  parameters: ofDrop(OVERRIDE_HEADERS),
  requestBody: operations.OVERRIDE.requestBody,
  responses: operations.OVERRIDE.responses,
  problems: problemsOf(operations.OVERRIDE),
} as const satisfies Operation
