import type { FastifyInstance } from 'fastify'
import type { Operation, Schemas } from '../../openapi/operation.ts'
import * as operations from '../../routes/uploads/operations.ts'
import { addTusRoutes, speakTus } from '../../routes/uploads/tus.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_PATH, type LinkOptions, secretOf, visitorOf } from './visit.ts'
import { toldOnDrop, toldToVisitor } from './visitor-problems.ts'

/** tus by a drop link. Registered below `requireLink`. */
export async function dropRoutes(app: FastifyInstance, options: LinkOptions): Promise<void> {
  const { useCases, basePath } = options
  const { links, uploads } = useCases
  speakTus(app, toldToVisitor)
  addTusRoutes(app, uploads, {
    // Ends in a slash, because a file may have the name `uploads`.
    urls: [`${LINK_PATH}/uploads/`],
    uploadUrl: `${LINK_PATH}/uploads/:upload_id`,
    operations: {
      create: CREATE,
      offset: OFFSET,
      append: APPEND,
      cancel: CANCEL,
      override: OVERRIDE,
    },
    allow: 'HEAD, PATCH, DELETE',
    locationOf: (request, version) => `${basePath}/links/${secretOf(request)}/uploads/${version}`,
    admitCreation: (request) => links.beginDrop(visitorOf(request, 'create')),
    // What an append leaves behind when it fails is garbage of the owner.
    admitAppend: (request) => links.admitAppend(visitorOf(request, 'create')),
  })
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
