import type { FastifyInstance } from 'fastify'
import { assertCovers, narrowPrefix } from '../../../core/auth/scope.ts'
import { parseFileName, parseFileNamePrefix } from '../../../core/files/file-name.ts'
import type { History } from '../../../core/history/history.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import { assertQueryDecodable } from '../../server/query.ts'
import { subjectOf } from '../../server/request-subject.ts'
import { FILE_NAME_SCHEMA, Prefix, Query } from '../../openapi/parameters.ts'
import { Type } from '../../openapi/type.ts'
import type { MountedRoute } from '../mounted-route.ts'
import { PAGE_QUERY, type PageQuery, parseCursor, type ReadList } from '../pagination.ts'
import { endIn, historyPage } from './past-version-resource.ts'

export const HISTORY_QUERY = Query({
  name: Type.Optional(
    Type.String({
      description: 'Only versions that had this file name. Takes precedence over `prefix`.',
      examples: ['README.md'],
    }),
  ),
  prefix: Prefix('Only versions whose file names begin with this, byte by byte.', 'photos/2026/'),
  ...PAGE_QUERY.properties,
})

export const HISTORY_PARAMETERS = {
  query: { name: { ...FILE_NAME_SCHEMA, ...HISTORY_QUERY.properties.name } },
}

interface HistoryListMount {
  readonly route: MountedRoute
  readonly readList: ReadList
}

interface HistoryQuery extends PageQuery {
  /** Takes precedence over `prefix`. */
  readonly name?: string
  readonly prefix?: string
}

/** Adds the list of what was replaced and deleted, as far as the subject's scope covers the names. */
export function addHistoryList(
  app: FastifyInstance,
  history: Pick<History, 'list'>,
  { route, readList }: HistoryListMount,
): void {
  app.route({
    ...route,
    handler: async (request, reply) => {
      const subject = subjectOf(request, ['history'])
      const query = request.query as HistoryQuery
      const { name, prefix = '', limit = DEFAULT_PAGE_LIMIT, cursor } = query
      assertQueryDecodable(request)
      const asked = name === undefined ? undefined : parseFileName(name)
      const within = parseFileNamePrefix(prefix)
      if (asked !== undefined) assertCovers(subject, asked)
      const page = {
        subject,
        name: asked,
        prefix: asked === undefined ? narrowPrefix(subject, within) : within,
        after: cursor === undefined ? undefined : parseCursor(cursor, endIn),
        limit,
      }
      const found = await readList(reply, () => history.list(page))
      void reply.header('cache-control', 'no-store')
      return historyPage(found)
    },
  })
}
