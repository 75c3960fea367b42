import type { FastifyRequest } from 'fastify'
import { assertPermits, hasPrefix, narrowPrefix } from '../../../core/auth/scope.ts'
import type { Feed } from '../../../core/changes/feed.ts'
import { pathNotFound } from '../../server/problem.ts'
import {
  CHARACTER_PATTERN,
  FILE_NAME_PREFIX_PATTERN,
  MAX_FILE_NAME_BYTES,
  parseFileName,
  parseFileNamePrefix,
} from '../../../core/files/file-name.ts'
import {
  FILE_ORDERS,
  type FileOrder,
  type FilePosition,
  MAX_SCANNED_FILES,
  parseContains,
  parseDelimiter,
} from '../../../core/files/listing.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import type { Repository } from '../../../core/files/repository.ts'
import { isUserId, type UserId } from '../../../core/users/user-id.ts'
import { FileReply, fileReply } from './file-resource.ts'
import type { Operation } from '../../openapi/operation.ts'
import { USER_ID } from '../../openapi/parameters.ts'
import { Page } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import {
  formatCursor,
  type Key,
  PAGE_QUERY,
  parseCursor,
  readLimit,
} from '../../shared-routes/pagination.ts'
import { requireUser, viewerOf } from '../access-token.ts'
import { formatChangeCursor } from '../changes/cursor.ts'
import { assertQueryDecodable } from '../../headers/decodable-query.ts'
import type { ReadInTurn } from '../listing-turns.ts'

const Query = Type.Object(
  {
    prefix: Type.Optional(
      Type.String({
        maxLength: MAX_FILE_NAME_BYTES,
        pattern: FILE_NAME_PREFIX_PATTERN,
        description:
          'The prefix of the file names: at most 255 bytes of UTF-8 without `/`, `\\` or control characters. ' +
          'Names are compared byte by byte.',
        examples: ['READ'],
      }),
    ),
    contains: Type.Optional(
      Type.String({
        maxLength: MAX_FILE_NAME_BYTES,
        pattern: FILE_NAME_PREFIX_PATTERN,
        description:
          'A part of the file names, in any case: at most 255 bytes of UTF-8. Characters are compared by their Unicode ' +
          'lower case, without normalization.',
        examples: ['readme'],
      }),
    ),
    delimiter: Type.Optional(
      Type.String({
        pattern: CHARACTER_PATTERN,
        description:
          'One character. Names that contain it after the prefix are rolled up to `prefixes`, each up to and including ' +
          'the character. Only with an order by name.',
        examples: ['-'],
      }),
    ),
    order: Type.Optional(
      Type.Unsafe<FileOrder>({
        type: 'string',
        enum: FILE_ORDERS,
        default: 'name',
        description:
          'The sort order. `name` sorts bytewise. A leading `-` sorts in descending order.',
      }),
    ),
    ...PAGE_QUERY.properties,
  },
  { additionalProperties: false },
)

const Reply = Page(
  'FilePage',
  {
    files: Type.Array(FileReply),
    prefixes: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'With `delimiter`: the prefixes that names are rolled up to, in the same order. `limit` counts files and ' +
          'prefixes together.',
        examples: [['2026-']],
      }),
    ),
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

interface ListOptions {
  readonly repository: Repository
  readonly feed: Pick<Feed, 'latest'>
  readonly readInTurn: ReadInTurn
}

export const listRoutes: FastifyPluginAsyncTypebox<ListOptions> = async (app, options) => {
  const { repository, feed, readInTurn } = options
  app.route({
    method: ['GET', 'HEAD'],
    url: '/users/:user_id/repo',
    schema: { querystring: Query, response: { 200: Reply } },
    config: { operation: LISTINGS },
    onRequest: async (request) => void ownerOf(request),
    preValidation: readLimit,
    handler: async (request, reply) => {
      const { prefix = '', order = 'name', limit = DEFAULT_PAGE_LIMIT, cursor } = request.query
      const delimiter = parseDelimiter(request.query.delimiter, order)
      const owner = ownerOf(request)
      const after =
        cursor === undefined ? undefined : parseCursor(cursor, (key) => placeOf(key, order))
      assertQueryDecodable(request)
      const viewer = viewerOf(request, owner)
      const own = viewer?.userId === owner ? viewer : undefined
      const asked = parseFileNamePrefix(prefix)
      const page = {
        userId: owner,
        viewer,
        prefix: own === undefined ? asked : narrowPrefix(own, asked),
        contains: parseContains(request.query.contains),
        rollUp: delimiter === undefined ? undefined : { delimiter, prefix: asked },
        hidesOthers: own !== undefined && hasPrefix(own),
        order,
        after,
        limit,
      }
      const follower = after === undefined ? own : undefined
      const [position, { files, prefixes, next }] = await readInTurn(reply, async () => [
        follower && (await feed.latest(follower)),
        await repository.list(page),
      ])
      void reply.header('cache-control', 'private, no-cache')
      return {
        files: files.map(fileReply),
        ...(delimiter !== undefined && { prefixes: [...prefixes] }),
        ...(follower && position && { changes_cursor: formatChangeCursor(follower, position) }),
        next_cursor: next === undefined ? null : formatCursor(keyOf(next, order)),
      }
    },
  })
}

function ownerOf(request: FastifyRequest): UserId {
  const { user_id: segment } = request.params as { readonly user_id: string }
  if (segment === 'me') return requireUser(request, 'read').userId
  if (isUserId(segment)) {
    const viewer = viewerOf(request, segment)
    if (viewer?.userId === segment) assertPermits(viewer, ['read'])
    return segment
  }
  throw pathNotFound()
}

/** A cursor is valid only for the order of its listing. */
function keyOf({ value, name, isPrefix }: FilePosition, order: FileOrder): Key {
  return isPrefix === true ? [order, value, name, AFTER_PREFIX] : [order, value, name]
}

function placeOf(
  [forOrder, value, name, ...more]: Key,
  order: FileOrder,
): FilePosition | undefined {
  if (forOrder !== order || typeof value !== 'number' || typeof name !== 'string') return undefined
  if (more.length === 0) return { value, name: parseFileName(name) }
  const isAfterPrefix = more.length === 1 && more[0] === AFTER_PREFIX && value === 0 && name !== ''
  if (!isAfterPrefix || !order.endsWith('name')) return undefined
  return { value, name: parseFileNamePrefix(name), isPrefix: true }
}

const AFTER_PREFIX = 'prefix'

const LISTING = {
  tag: 'files',
  responses: {
    200: {
      description:
        'One page of the files that the caller may see. A page can have fewer entries than `limit`, or none, and still ' +
        `a \`next_cursor\`: a request reads at most ${MAX_SCANNED_FILES} rows of an index. Only \`null\` ends the listing.`,
      headers: ['Cache-Control'],
    },
  },
} as const satisfies Partial<Operation>

const LISTINGS = [
  {
    ...LISTING,
    operationId: 'listOwnFiles',
    summary: "List the caller's files",
    path: '/users/me/repo',
  },
  {
    ...LISTING,
    operationId: 'listFiles',
    summary: "List a user's files that the caller may see",
    credentials: 'optional',
    parameters: { path: { user_id: USER_ID } },
    problems: ['not_found'],
  },
] as const satisfies readonly Operation[]
