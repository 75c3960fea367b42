import { assertEveryName, narrowPrecondition } from '../../../core/auth/scope.ts'
import { MAX_SCANNED_FILES } from '../../../core/files/listing.ts'
import { discardBody } from '../../body/discard-body.ts'
import { serveContent } from '../../download/serve-content.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { describing, type Operation } from '../../openapi/operation.ts'
import { PRECONDITIONS, Query } from '../../openapi/parameters.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { addHistoryList, HISTORY_PARAMETERS, HISTORY_QUERY } from '../../routes/history/list.ts'
import {
  HistoryPage,
  RESTORE_REQUEST,
  RestoreBody,
  VERSION,
} from '../../routes/history/past-version-resource.ts'
import { addRestore, pastVersion, RESTORE_ACTIONS } from '../../routes/history/restore.ts'
import { requireUser } from '../access-token.ts'
import { CONDITIONS, REDIRECTED_RESPONSES } from '../../routes/files/download.openapi.ts'
import { committedFile, UploadedFile } from '../../routes/files/stored-file.ts'
import { STORED_EXAMPLE } from '../../routes/files/upload.openapi.ts'
import type { UserPlugin } from '../user-plugin.ts'

const HISTORY = '/users/me/history'
const PAST_VERSION = `${HISTORY}/:version`

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
    stat: (version) => history.stat(version),
    open: (version) => history.open(version),
  })

  app.delete(PAST_VERSION, PURGE, async (request, reply) => {
    const version = pastVersion(request)
    await discardBody(reply)
    await history.purge(version)
    return reply.code(204).send()
  })

  app.delete(HISTORY, PURGE_ALL, async (request, reply) => {
    const caller = requireUser(request, ['history'])
    assertEveryName(caller)
    await discardBody(reply)
    await history.purgeAll({ subject: caller, signal: requestSignal(reply) })
    return reply.code(204).send()
  })

  addRestore(app, history, {
    route: {
      method: 'POST',
      url: `${PAST_VERSION}/restore`,
      ...RESTORE,
      onRequest: async (request) => {
        pastVersion(request)
        requireUser(request, RESTORE_ACTIONS)
      },
    },
    preconditionOf: ({ headers }, subject) =>
      narrowPrecondition(subject, parseWritePrecondition(headers)),
    show: committedFile,
  })
}

const ofHistory = describing({ tag: 'history' })

const VERSION_PARAM = {
  type: 'string',
  format: 'uuid',
  description: 'The version of the file, as in its ETag.',
  examples: [VERSION],
} as const

const LISTING = ofHistory({
  operationId: 'listHistory',
  summary: 'List the files that the caller has replaced or deleted',
  querystring: HISTORY_QUERY,
  parameters: HISTORY_PARAMETERS,
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

const RESTORE = ofHistory({
  operationId: 'restorePastVersion',
  summary: 'Make a replaced or deleted file current again',
  description:
    'The file has the same content, version and ETag as before. Nothing is copied. The preconditions are those of the ' +
    'current file with that name. A file that does not fit the capacity gets 403, and nothing changes.',
  parameters: { path: { version: VERSION_PARAM }, header: PRECONDITIONS },
  body: RestoreBody,
  jsonBody: RESTORE_REQUEST,
  response: { 200: UploadedFile },
  responses: { 200: { description: 'The file is current.', example: STORED_EXAMPLE } },
  problems: [
    'invalid_file_name',
    'not_found',
    'version_gone',
    'file_exists',
    'capacity_exceeded',
    'file_count_exceeded',
  ],
})
