import { assertEveryName, coversName, hasPrefix, type Scoped } from '../../../core/auth/scope.ts'
import { isAppError } from '../../../core/errors.ts'
import type { FileVersion } from '../../../core/files/file.ts'
import { MAX_SCANNED_FILES } from '../../../core/files/listing.ts'
import type { FindPast, History } from '../../../core/history/history.ts'
import { type PastVersion, versionNotFound } from '../../../core/history/past-version.ts'
import { discardBody } from '../../body/discard-body.ts'
import { serveContent } from '../../download/serve-content.ts'
import type { Operation } from '../../openapi/operation.ts'
import { FILE_NAME_SCHEMA, Prefix, Query } from '../../openapi/parameters.ts'
import { Type } from '../../openapi/type.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { PAGE_QUERY } from '../../routes/pagination.ts'
import { addHistoryList } from '../../routes/history/list.ts'
import { HistoryPage } from '../../routes/history/past-version-resource.ts'
import { pastVersion } from '../../routes/history/restore.ts'
import { requireUser } from '../access-token.ts'
import { CONDITIONS, REDIRECTED_RESPONSES } from '../../routes/files/download.openapi.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { HISTORY, ofHistory, PAST_VERSION, VERSION_PARAM } from './past-version.ts'
import { restoreRoutes } from './restore.ts'

const QUERY = Query({
  name: Type.Optional(
    Type.String({
      ...FILE_NAME_SCHEMA,
      description: 'Only versions that had this file name. Takes precedence over `prefix`.',
    }),
  ),
  prefix: Prefix('Only versions whose file names begin with this, byte by byte.'),
  ...PAGE_QUERY.properties,
})

/** What the caller has replaced and deleted: list, download, restore and purge. */
export const historyRoutes: UserPlugin = async (app, options) => {
  const { useCases, readInTurn } = options
  const { history } = useCases

  addHistoryList(app, history, {
    route: {
      method: ['GET', 'HEAD'],
      url: HISTORY,
      ...LISTING,
      onRequest: async (request) => void requireUser(request, ['history']),
    },
    readList: readInTurn,
  })

  serveContent(app, options, {
    url: PAST_VERSION,
    route: { config: { operation: DOWNLOAD } },
    wanted: pastVersion,
    stat: async (version) => {
      const { subject } = version
      return seen(subject, await hidingGone(subject, history.stat(version)))
    },
    open({ subject, version, select, signal }) {
      const selectSeen = (past: FileVersion) => {
        seen(subject, past)
        return select?.(past) ?? 'whole'
      }
      return hidingGone(subject, history.open({ subject, version, select: selectSeen, signal }))
    },
  })

  app.delete(PAST_VERSION, PURGE, async (request, reply) => {
    const version = pastVersion(request)
    await discardBody(reply)
    if (!(await isGone(history, version))) await history.purge(version)
    return reply.code(204).send()
  })

  app.delete(HISTORY, PURGE_ALL, async (request, reply) => {
    const caller = requireUser(request, ['history'])
    assertEveryName(caller)
    await discardBody(reply)
    await history.purgeAll({ subject: caller, signal: requestSignal(reply) })
    return reply.code(204).send()
  })

  await app.register(restoreRoutes, options)
}

/** A version outside the token's prefix is like one that does not exist. */
function seen<T extends Pick<PastVersion, 'name'>>(caller: Scoped, version: T): T {
  if (coversName(caller, version.name)) return version
  throw versionNotFound()
}

/** That a version was in the history is told only to tokens for all names. */
async function hidingGone<T>(caller: Scoped, found: Promise<T>): Promise<T> {
  try {
    return await found
  } catch (error) {
    throw isAppError(error, 'version_gone') && hasPrefix(caller) ? versionNotFound() : error
  }
}

/** Whether there is nothing to purge. Throws `not_found` for a version that a token with a prefix does not see. */
async function isGone(history: Pick<History, 'stat'>, wanted: FindPast): Promise<boolean> {
  const { subject } = wanted
  if (!hasPrefix(subject)) return false
  try {
    seen(subject, await history.stat(wanted))
    return false
  } catch (error) {
    if (isAppError(error, 'version_gone')) return true
    throw error
  }
}

const LISTING = ofHistory({
  operationId: 'listHistory',
  summary: 'List the files that the caller has replaced or deleted',
  querystring: QUERY,
  response: { 200: HistoryPage },
  responses: {
    200: {
      description:
        'One page, newest end first. A page can have fewer versions than `limit`, or none, and still a `next_cursor`: ' +
        `with a \`prefix\`, a request looks at no more than ${MAX_SCANNED_FILES} versions. Only \`null\` ends the listing.`,
      headers: ['Cache-Control'],
    },
  },
  problems: ['invalid_file_name'],
})

const DOWNLOAD = {
  tag: 'history',
  operationId: 'downloadPastVersion',
  summary: 'Download a replaced or deleted file, or a range of it',
  parameters: { path: { version: VERSION_PARAM }, header: CONDITIONS },
  responses: REDIRECTED_RESPONSES,
  problems: ['not_found', 'version_gone', 'range_not_satisfiable'],
} as const satisfies Operation

const PURGE = ofHistory({
  operationId: 'purgePastVersion',
  summary: 'Delete a replaced or deleted file for good',
  parameters: { path: { version: VERSION_PARAM } },
  responses: { 204: 'The version has left the history.' },
  problems: ['not_found'],
})

const PURGE_ALL = ofHistory({
  operationId: 'purgeHistory',
  summary: "Delete all of the caller's replaced and deleted files for good",
  // A filter of the list, ignored here, would delete what it was to spare.
  querystring: Query({}),
  responses: { 204: 'The history is empty.' },
})
