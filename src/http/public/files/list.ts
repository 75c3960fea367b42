import type { FastifyRequest } from 'fastify'
import { assertPermits } from '../../../core/auth/scope.ts'
import { isUserId, type UserId } from '../../../core/users/user-id.ts'
import type { Operation } from '../../openapi/operation.ts'
import { USER_ID } from '../../openapi/parameters.ts'
import { Page } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { pathNotFound } from '../../server/problem.ts'
import { LISTING_MEMBERS, LISTING_QUERY, SHORT_PAGES } from '../../routes/files/file-listing.ts'
import { addFileList } from '../../routes/files/list.ts'
import { requireUser, viewerOf } from '../access-token.ts'
import { formatChangeCursor } from '../changes/cursor.ts'
import type { UserPlugin } from '../user-plugin.ts'

const Reply = Page(
  'FilePage',
  {
    ...LISTING_MEMBERS,
    changes_cursor: Type.Optional(
      Type.String({
        description:
          "On the first page of the caller's own files: the cursor of `/users/me/changes` from before the page was read. " +
          'To list all pages and then follow it misses no change.',
        examples: ['WyJhbGljZSIsMTc5NTI2MjQwMDAwMCw0MiwxNzk1MjYyNDAwMDAwXQ'],
      }),
    ),
  },
  'One page of a listing.',
)

export const listRoutes: UserPlugin = async (
  app,
  { useCases: { repository, feed }, readInTurn },
) => {
  addFileList(app, repository, {
    route: {
      method: ['GET', 'HEAD'],
      url: '/users/:user_id/repo',
      schema: { querystring: LISTING_QUERY, response: { 200: Reply } },
      config: { operation: LISTINGS },
      onRequest: async (request) => void ownerOf(request),
    },
    readList: readInTurn,
    readerOf(request) {
      const userId = ownerOf(request)
      return { userId, viewer: viewerOf(request, userId) }
    },
    changesCursorOf: async (viewer) => formatChangeCursor(viewer, await feed.latest(viewer)),
    onListed: async (reply) => void reply.header('cache-control', 'private, no-cache'),
  })
}

function ownerOf(request: FastifyRequest): UserId {
  const { user_id: segment } = request.params as { readonly user_id: string }
  if (segment === 'me') return requireUser(request, ['read']).userId
  if (isUserId(segment)) {
    const viewer = viewerOf(request, segment)
    if (viewer?.userId === segment) assertPermits(viewer, ['read'])
    return segment
  }
  throw pathNotFound()
}

const LISTING = {
  tag: 'files',
  responses: {
    200: {
      description: `One page of the files that the caller may see. ${SHORT_PAGES}`,
      headers: ['Cache-Control'],
    },
  },
} as const satisfies Partial<Operation>

const LISTINGS = [
  {
    ...LISTING,
    operationId: 'listFiles',
    summary: "List the caller's files",
    path: '/users/me/repo',
  },
  {
    ...LISTING,
    operationId: 'listUserFiles',
    summary: "List a user's files that the caller may see",
    credentials: 'optional',
    parameters: { path: { user_id: USER_ID } },
    problems: ['not_found'],
  },
] as const satisfies readonly Operation[]
