import type { Scoped } from '../../../core/auth/scope.ts'
import type { UserSubject } from '../../../core/auth/subject.ts'
import {
  type Change,
  CHANGE_EVENTS,
  type ChangePosition,
  changeWithin,
} from '../../../core/changes/change.ts'
import { changeJson } from '../../../core/changes/change-json.ts'
import { MAX_WATCHES } from '../../../core/changes/watches.ts'
import { VISIBILITIES } from '../../../core/files/file.ts'
import { cutPage, DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import { described } from '../../openapi/operation.ts'
import { Query } from '../../openapi/parameters.ts'
import {
  Bytes,
  EXAMPLE_SHA256,
  OneOf,
  Text,
  TextOrNull,
  Time,
} from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { PAGE_QUERY } from '../../routes/pagination.ts'
import { requireUser } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { formatChangeCursor, parseChangeCursor } from './cursor.ts'
import { lastEventId, sendEvents, wantsEventStream } from './event-stream.ts'

const VERSION = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

const ChangeReply = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: '1, 2, 3 ... for each account, without gaps, in the order of the commits.',
      examples: [42],
    }),
    type: OneOf(
      CHANGE_EVENTS,
      'What happened. `file.updated`: the visibility, the expiry or whether evictions spare it. A rename onto another file is `file.deleted` of that one, then ' +
        '`file.renamed`. `capacity.*`: `state` of the capacity has become this. Ignore types that you do not know.',
    ),
    at: Time('When the change was committed.'),
    name: Type.Optional(Text('The name of the file, for `file.*`.', 'README.md')),
    previous_name: Type.Optional(Type.String({ description: 'For `file.renamed`.' })),
    version: Type.Optional(
      Text('The version of the file. A rename or an update keeps it.', VERSION),
    ),
    size: Type.Optional(Bytes('Size of the file in bytes.', 6143)),
    sha256: Type.Optional(Text('SHA-256 of the file, in lower-case hexadecimal.', EXAMPLE_SHA256)),
    visibility: Type.Optional(OneOf(VISIBILITIES, 'Who may download the file.')),
    media_type: Type.Optional(
      Text('The media type with which the file is downloaded, for `file.*`.', 'text/markdown'),
    ),
    device_id: Type.Optional(TextOrNull('The device that stored the content, for `file.*`.')),
    capacity: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Capacity in bytes, for `capacity.*`.' }),
    ),
    used: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Bytes used by files, for `capacity.*`.' }),
    ),
  },
  { title: 'RepositoryChange', description: 'A committed change of a repository.' },
)

const MAX_WAIT_SECONDS = 60

const QUERY = Query({
  limit: PAGE_QUERY.properties.limit,
  cursor: Type.Optional(
    Type.String({
      description:
        'The `next_cursor` of the previous answer, or the `changes_cursor` of a listing. Without it, the answer has ' +
        'no changes, and the cursor of the present.',
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_SECONDS,
      default: 0,
      description:
        'Seconds to wait for a change if there is none. A user may have at most ' +
        `${MAX_WATCHES} waiting requests on an instance.`,
    }),
  ),
})

const Reply = Type.Object(
  {
    changes: Type.Array(ChangeReply),
    next_cursor: Type.String({
      description: 'The cursor after these changes.',
      examples: ['WyJhbGljZSIsMTc5NTI2MjQwMDAwMCw0MiwxNzk1MjYyNDYwMDAwXQ'],
    }),
    has_more: Type.Boolean({
      description: 'Whether there are further changes already.',
      examples: [false],
    }),
  },
  { title: 'ChangePage', description: 'Changes after a cursor, in the order of their commits.' },
)

const EXAMPLE = {
  changes: [
    {
      sequence: 42,
      type: 'file.renamed',
      at: '2026-11-21T12:00:00.000Z',
      name: 'README.md',
      previous_name: 'README.txt',
      version: VERSION,
      size: 6143,
      sha256: EXAMPLE_SHA256,
      visibility: 'private',
      media_type: 'text/markdown',
      device_id: null,
    },
  ],
  next_cursor: 'WyJhbGljZSIsMTc5NTI2MjQwMDAwMCw0MiwxNzk1MjYyNDAwMDAwXQ',
  has_more: false,
}

/** `GET /users/me/changes`: pages of changes, long polling, and server-sent events. */
export const changesRoutes: UserPlugin = async (app, { useCases: { feed }, readInTurn }) => {
  app.route({
    method: 'GET',
    url: '/users/me/changes',
    ...CHANGES,
    handler: async (request, reply) => {
      const caller = requireUser(request, ['read'])
      const { limit = DEFAULT_PAGE_LIMIT, cursor, wait = 0 } = request.query
      void reply.header('cache-control', 'no-store')
      const isStream = wantsEventStream(request)
      const start = (isStream ? lastEventId(request) : undefined) ?? cursor
      const gone = requestSignal(reply)
      const inTurn = <T>(read: () => Promise<T>) => readInTurn(reply, read, gone)
      const after =
        start === undefined
          ? await inTurn(() => feed.latest(caller))
          : parseChangeCursor(start, caller)
      const ends = [app.signals.stopping, gone]
      if (isStream) return await sendEvents(reply, { feed, subject: caller, after, ends, inTurn })
      if (start === undefined) return pageOf(caller, { after, changes: [], limit })
      const page = { subject: caller, after, limit: limit + 1 }
      const [quietMs, maxMs] = [wait * 1000, wait * 1000]
      const waiting = { subject: caller, after, limit: limit + 1, quietMs, maxMs, ends, inTurn }
      const changes =
        wait > 0
          ? await firstChanges(caller, feed.follow(waiting))
          : await inTurn(() => feed.read(page))
      return pageOf(caller, { after, changes, limit })
    },
  })
}

/** The first page with a change that the caller sees. After a quiet period or at the end, the last page, or none. */
async function firstChanges(
  caller: Scoped,
  pages: AsyncIterable<readonly Change[]>,
): Promise<readonly Change[]> {
  let isFirst = true
  let last: readonly Change[] = []
  for await (const page of pages) {
    if (page.length === 0 && !isFirst) break
    if (page.length > 0) last = page
    if (page.some((change) => changeWithin(caller, change) !== undefined)) break
    isFirst = false
  }
  return last
}

interface Found {
  readonly after: ChangePosition
  /** One more than the limit if there are further ones. */
  readonly changes: readonly Change[]
  readonly limit: number
}

function pageOf(caller: UserSubject, { after, changes, limit }: Found) {
  const { page, last } = cutPage(changes, limit)
  return {
    changes: page.flatMap((change) => changeWithin(caller, change) ?? []).map(changeJson),
    next_cursor: formatChangeCursor(caller, page.at(-1) ?? after),
    has_more: last !== undefined,
  }
}

const CHANGES = described({
  operationId: 'listChanges',
  summary: "List the changes of the caller's files and capacity, or wait for them",
  description:
    'Every committed change appears exactly once, in the order of the commits. Follow a listing from its ' +
    '`changes_cursor`, then from `next_cursor`. With `Accept: text/event-stream`, the answer is a stream of ' +
    'server-sent events: `event` is `change`, `data` a change as JSON, `id` the cursor after it. `Last-Event-ID` ' +
    'resumes a stream, and takes precedence over `cursor`. A stream counts as a waiting request.',
  tag: 'changes',
  querystring: QUERY,
  response: { 200: Reply },
  parameters: {
    header: {
      Accept: {
        type: 'string',
        description: '`text/event-stream` requests a stream of server-sent events.',
      },
      'Last-Event-ID': {
        type: 'string',
        description: 'The `id` of the last event that the client has received.',
      },
    },
  },
  responses: {
    200: {
      description: 'Changes after the cursor, if there are any.',
      headers: ['Cache-Control'],
      content: {
        'application/json': { schema: Reply, example: EXAMPLE },
        'text/event-stream': { schema: { type: 'string' } },
      },
    },
  },
  problems: ['cursor_expired', 'too_many_requests'],
})
