import { Type, type FastifyPluginAsyncTypebox, type Static } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { parseFileNamePrefix } from '../../core/file-name.ts'
import { FILE_ORDERS, type FileOrder } from '../../core/file-page.ts'
import { parsePageLimit } from '../../core/page-limit.ts'
import type { Repository } from '../../core/repository.ts'
import { isUserId, type UserId } from '../../core/user-id.ts'
import { FileReply, fileReply } from '../file-reply.ts'
import { formatListCursor, parseListCursor } from '../list-cursor.ts'
import { requireUser } from '../plugins/access-token.ts'

const Params = Type.Object({ user_id: Type.String() })

const Query = Type.Object(
  {
    prefix: Type.Optional(Type.String()),
    order: Type.Optional(Type.String()),
    limit: Type.Optional(Type.String()),
    cursor: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

const Reply = Type.Object({
  files: Type.Array(FileReply),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})

/** `GET /users/{me|user_id}/repo`: a page of the files that the caller may see. */
export const listRoutes: FastifyPluginAsyncTypebox<{ readonly repository: Repository }> = async (
  app,
  { repository },
) => {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/users/:user_id/repo',
    schema: { params: Params, querystring: Query, response: { 200: Reply } },
    onRequest: async (request) => void ownerOf(request),
    handler: async (request, reply) => {
      const { prefix = '', limit, cursor } = request.query
      const owner = ownerOf(request)
      assertDecodable(request)
      const order = parseOrder(request.query.order ?? 'name')
      const { files, next } = await repository.list({
        userId: owner,
        viewer: request.user?.userId,
        prefix: parseFileNamePrefix(prefix),
        order,
        after: cursor === undefined ? undefined : parseListCursor(cursor, order),
        limit: parsePageLimit(limit),
      })
      void reply.header('cache-control', 'private, no-cache')
      return {
        files: files.map(fileReply),
        next_cursor: next === undefined ? null : formatListCursor(next, order),
      }
    },
  })
}

function ownerOf(request: FastifyRequest): UserId {
  const { user_id: segment } = request.params as Static<typeof Params>
  if (segment === 'me') return requireUser(request).userId
  if (isUserId(segment)) return segment
  throw new AppError('not_found', 'There is nothing under this path.')
}

/** What is no UTF-8 the parser of queries hands on undecoded; all but a prefix are refused as they are. */
function assertDecodable({ raw: { url = '' } }: FastifyRequest): void {
  try {
    decodeURIComponent(url)
  } catch {
    throw new AppError('invalid_parameter', 'The prefix is not valid percent-encoded UTF-8.', {
      facts: { parameter: 'prefix' },
    })
  }
}

function parseOrder(text: string): FileOrder {
  const order = FILE_ORDERS.find((known) => known === text)
  if (order !== undefined) return order
  throw new AppError('invalid_parameter', `order is one of ${FILE_ORDERS.join(', ')}.`, {
    facts: { parameter: 'order' },
  })
}
