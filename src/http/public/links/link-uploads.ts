import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { nameBehind } from '../../../core/links/link.ts'
import type { Version } from '../../../core/objects/object-key.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import type { Operation, Schemas } from '../../openapi/operation.ts'
import * as operations from '../uploads/operations.ts'
import {
  APPEND_HEADERS,
  METHOD_OVERRIDE,
  TUS_RESUMABLE,
  UPLOAD_ID_PARAM,
} from '../uploads/parameters.ts'
import { sendTusProblem } from '../uploads/resumable.ts'
import { overridden, tusHandlers, tusLimits, type TusOptions } from '../uploads/routes.ts'
import { TUS_VERSION } from '../uploads/tus-headers.ts'
import type { UploadAccess } from '../uploads/upload-access.ts'
import { uploadId } from '../uploads/upload-path.ts'
import { type LinkFileOptions, NEW_FILE } from './link-files.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_PATH, secretOf, visitOf } from './visit.ts'
import { toldToVisitor } from './visitor-problems.ts'

export interface LinkUploadOptions extends LinkFileOptions, Omit<TusOptions, 'access'> {
  readonly basePath: string
}

/** Ends in a slash, because a file may have the name `uploads`. */
const LINK_UPLOADS = `${LINK_PATH}/uploads/`
const LINK_UPLOAD = `${LINK_UPLOADS}:upload_id`

/** tus by a drop link. Registered below `requireLink`. */
export async function linkUploadRoutes(
  app: FastifyInstance,
  options: LinkUploadOptions,
): Promise<void> {
  const handlers = tusHandlers({ ...options, access: linkAccess(options) })
  const { refuseOtherVersions: onRequest, create, append, cancel } = handlers
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
  app.post(LINK_UPLOADS, { config: CREATE, onRequest }, create)
  app.head(LINK_UPLOAD, { config: OFFSET }, handlers.offset)
  app.patch(LINK_UPLOAD, { config: APPEND, onRequest }, append)
  app.delete(LINK_UPLOAD, { config: CANCEL, onRequest }, cancel)
  app.post(LINK_UPLOAD, { config: OVERRIDE, onRequest }, overridden({ append, cancel }))
}

/** An upload belongs to the link that created it, and is continued by it alone. */
function linkAccess({
  uploads,
  basePath,
}: {
  readonly uploads: Pick<ResumableUploads, 'find'>
  readonly basePath: string
}): UploadAccess {
  return {
    assert: (request) => void visitOf(request, 'drop'),
    create(request, { name }) {
      const { link, owner } = visitOf(request, 'drop')
      return {
        ...owner,
        name: nameBehind(link, name),
        visibility: undefined,
        precondition: NEW_FILE,
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

/** An operation of the user's own uploads for visitors: with `header` in place of its parameters, and without the draft. */
function byLink(
  { operation }: { readonly operation: Operation },
  change: Pick<Operation, 'operationId' | 'summary'> &
    Partial<Operation> & { readonly header: Schemas; readonly hasId?: boolean },
): FastifyContextConfig {
  const { header, hasId = true, ...changed } = change
  const { responses, requestBody, problems = [], description } = operation
  const { 200: _draft, ...ofTus } = responses
  const id = hasId ? { upload_id: UPLOAD_ID_PARAM } : {}
  return {
    operation: {
      ...(description !== undefined && { description }),
      tag: 'links',
      credentials: 'none',
      parameters: { path: { secret: LINK_SECRET, ...id }, header },
      ...(requestBody && { requestBody }),
      responses: ofTus,
      problems: [...problems, 'not_found', 'link_password_required', 'file_exists'],
      ...changed,
    },
  }
}

const VERSION = { 'Tus-Resumable': TUS_RESUMABLE }

const { 'Upload-Offset': OFFSET_HEADER } = APPEND_HEADERS
const {
  'If-Match': _ifMatch,
  'If-None-Match': _ifNoneMatch,
  'If-Unmodified-Since': _ifUnmodifiedSince,
  ...CREATE_HEADERS
} = operations.CREATE.operation.parameters.header

const CREATE = byLink(operations.CREATE, {
  operationId: 'createDrop',
  summary: 'Create a resumable upload by a drop link',
  description:
    'As `POST /users/me/uploads`. The key `filename` of `Upload-Metadata` is the name without the prefix of the link. ' +
    'Preconditions and `visibility` are ignored.',
  header: CREATE_HEADERS,
  hasId: false,
})

const OFFSET = byLink(operations.OFFSET, {
  operationId: 'getDropOffset',
  summary: 'Get the offset at which to continue a drop',
  header: VERSION,
  responses: { 200: operations.OFFSET.operation.responses[200] },
})

const APPEND = byLink(operations.APPEND, {
  operationId: 'appendToDrop',
  summary: 'Append bytes to a drop',
  header: {
    ...VERSION,
    ...APPEND_HEADERS,
    'Upload-Offset': { ...OFFSET_HEADER, required: true },
  },
})

const CANCEL = byLink(operations.CANCEL, {
  operationId: 'cancelDrop',
  summary: 'Cancel a drop',
  header: VERSION,
})

const OVERRIDE = byLink(operations.OVERRIDE, {
  operationId: 'postToDrop',
  summary: 'Append to a drop, or cancel it, without PATCH and DELETE',
  header: {
    ...VERSION,
    ...APPEND_HEADERS,
    'X-HTTP-Method-Override': METHOD_OVERRIDE,
  },
})
