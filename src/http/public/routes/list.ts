import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/errors.ts'
import { parseFileName, parseFileNamePrefix } from '../../../core/files/file-name.ts'
import { FILE_ORDERS, type FileOrder, type FilePosition } from '../../../core/files/listing.ts'
import { parsePageLimit } from '../../../core/pagination.ts'
import type { Repository } from '../../../core/files/repository.ts'
import { isUserId, type UserId } from '../../../core/users/user-id.ts'
import { FILE_EXAMPLE, FileReply, fileReply } from '../file-resource.ts'
import type { Operation } from '../../openapi/operation.ts'
import { CURSOR, LIMIT, USER_ID } from '../../openapi/parameters.ts'
import { ALWAYS, TOKEN } from '../../openapi/problem-responses.ts'
import { NextCursor } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox, type Static } from '../../openapi/type.ts'
import { requireUser } from '../access-token.ts'

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

const Reply = Type.Object(
  { files: Type.Array(FileReply), next_cursor: NextCursor },
  { title: 'FilePage', description: 'A page of a listing.' },
)

/** `GET /users/{me|user_id}/repo`: a page of the files that the caller may see. */
export const listRoutes: FastifyPluginAsyncTypebox<{ readonly repository: Repository }> = async (
  app,
  { repository },
) => {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/users/:user_id/repo',
    schema: { params: Params, querystring: Query, response: { 200: Reply } },
    config: LISTINGS,
    onRequest: async (request) => void ownerOf(request),
    handler: async (request, reply) => {
      const { prefix = '', limit, cursor } = request.query
      const owner = ownerOf(request)
      assertDecodable(request)
      const order = parseOrder(request.query.order ?? 'name')
      const { files, next } = await repository.list({
        userId: owner,
        viewer: request.user ?? undefined,
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

/** Writes a place in a listing as text without meaning to anyone else. */
function formatListCursor({ name, value }: FilePosition, order: FileOrder): string {
  return Buffer.from(JSON.stringify([order, value, name])).toString('base64url')
}

/** Reads it back. Throws `invalid_parameter` when it is none, or belongs to a listing in another order. */
function parseListCursor(text: string, order: FileOrder): FilePosition {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!Array.isArray(parts) || parts.length !== 3) throw new TypeError('not a cursor')
    const [forOrder, value, name] = parts as unknown[]
    if (forOrder !== order) throw new TypeError('of another order')
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError('no place')
    return { value, name: parseFileName(String(name)) }
  } catch (error) {
    throw new AppError('invalid_parameter', 'The cursor is not one of this listing.', {
      cause: error,
      facts: { parameter: 'cursor' },
    })
  }
}

const LISTING = {
  tag: 'files',
  responses: {
    200: {
      description: 'A page of the files that the caller may see.',
      headers: ['Cache-Control'],
      example: { files: [FILE_EXAMPLE], next_cursor: null },
    },
  },
  problems: [...ALWAYS, ...TOKEN],
} as const satisfies Partial<Operation>

const QUERY = [
  {
    name: 'prefix',
    in: 'query',
    description: 'What the names begin with, at most 255 bytes of UTF-8; compared byte by byte.',
    schema: { type: 'string', maxLength: 255, pattern: '^[^/\\\\\\u0000-\\u001f\\u007f]*$' },
    example: 'READ',
  },
  {
    name: 'order',
    in: 'query',
    description: '`name` is bytewise; `-` turns an order round.',
    schema: { type: 'string', enum: FILE_ORDERS, default: 'name' },
  },
  LIMIT,
  CURSOR,
] as const

const LISTINGS = {
  operation: [
    {
      ...LISTING,
      operationId: 'listOwnFiles',
      summary: 'List the own files',
      path: '/users/me/repo',
      credentials: 'required',
      parameters: QUERY,
      problems: [...LISTING.problems, 'access_token_missing'],
    },
    {
      ...LISTING,
      operationId: 'listFiles',
      summary: "List a user's files that the caller may see",
      credentials: 'optional',
      parameters: [USER_ID, ...QUERY],
      problems: [...LISTING.problems, 'not_found'],
    },
  ],
} as const satisfies FastifyContextConfig
