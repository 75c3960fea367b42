import { instanceJson } from '../../../core/overview/instance.ts'
import { MAX_PARKED, overviewJson, USERS_PER_PAGE } from '../../../core/overview/overview.ts'
import { described } from '../../openapi/operation.ts'
import { BytesOrNull, Bytes, Count, Text, TextOrNull, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { logAudit } from '../audit.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { NO_QUERY } from '../route-schemas.ts'
import { User } from './users.ts'

export const overviewRoutes: OperatorPlugin = async (app, { useCases }) => {
  app.get('/admin/overview', OVERVIEW, async (request) => {
    const [overview, instance] = await Promise.all([
      useCases.overview.read(),
      useCases.instance.read(),
    ])
    logAudit(request, { action: 'overview.read' })
    return { ...overviewJson(overview), ...instanceJson(instance) }
  })
}

const Webhooks = {
  type: ['object', 'null'],
  properties: {
    parked: Count(
      `Events that could not be delivered for 24 hours, counted up to ${MAX_PARKED}.`,
      0,
    ),
    waiting: Count('Changes that are not delivered yet.', 3),
  },
  required: ['parked', 'waiting'],
  description: 'The events of webhooks; `null` unless webhooks are configured.',
  examples: [{ parked: 0, waiting: 3 }],
} as const

const DailyUsage = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'The day in UTC.', examples: ['2026-11-21'] }),
    users: Count('Users that were not deleted.', 805),
    files: Count('Their files.', 10_240),
    used: Bytes('Bytes used by them.', 62_914_560),
  },
  { title: 'DailyUsage', description: 'The figures at the beginning of a day.' },
)

const FreeDisk = Type.Object(
  {
    database: BytesOrNull(
      'Bytes free for the embedded database; `null` if a server stores it.',
      53_687_091_200,
    ),
    objects: BytesOrNull(
      'Bytes free for the contents of files; `null` if a server stores them.',
      53_687_091_200,
    ),
  },
  { description: 'The room on the file systems of the data. Both members can mean the same one.' },
)

interface LastBackup {
  readonly at: string
  readonly completed_at: string
  readonly files: number
  readonly bytes: number
}

const LastBackup = {
  type: ['object', 'null'],
  properties: {
    at: Time('When its database was copied.'),
    completed_at: Time('When it was complete.'),
    files: Count('Files in it.', 10_342),
    bytes: Bytes('Bytes of these files, and of past versions.', 63_535_206),
  },
  required: ['at', 'completed_at', 'files', 'bytes'],
  description: 'The newest complete backup in `BACKUP_DIR`; `null` if there is none.',
  examples: [
    {
      at: '2026-11-21T03:00:00.000Z',
      completed_at: '2026-11-21T03:00:09.000Z',
      files: 10_342,
      bytes: 63_535_206,
    },
  ],
} as const

const Setting = Type.Object(
  {
    name: Text('The name of the setting.', 'BASE_CAPACITY'),
    value: TextOrNull(
      'The value as it is written, or the default. A URL has `/...` for its path and query. `null` for a secret, and if ' +
        'there is no value.',
      '1GiB',
    ),
    set: Type.Boolean({
      description: 'Whether a variable or a file sets it; else the default applies.',
      examples: [false],
    }),
    secret: Type.Boolean({
      description: 'Whether the value is a secret, which is not shown.',
      examples: [false],
    }),
  },
  { title: 'Setting' },
)

const Overview = Type.Object(
  {
    taken_at: Time('When the reading of the figures began.'),
    users: Type.Object(
      {
        active: Count('Active users.', 812),
        suspended: Count('Suspended users.', 3),
        deleted: Count('Deleted users that are still to be purged.', 1),
      },
      { description: 'Users by status.' },
    ),
    files: Count('Files.', 10_342),
    used: Bytes('Bytes used by files.', 63_535_206),
    reserved: Bytes('Bytes reserved by uploads in progress.', 0),
    garbage: Bytes('Bytes of what the sweep has yet to remove: 4 KiB more for each object.', 4096),
    history: Type.Object(
      {
        used: Bytes('Bytes of past versions: 4 KiB more for each.', 10_239),
        count: Count('Past versions.', 1),
      },
      { description: 'Replaced and deleted files that can be restored.' },
    ),
    webhooks: Type.Unsafe<{ readonly parked: number; readonly waiting: number } | null>(Webhooks),
    fullest: Type.Array(User, {
      description:
        'At most 10 users with files, with the largest share of the capacity used first.',
    }),
    largest: Type.Array(User, {
      description: 'At most 10 users with files, with the most bytes used first.',
    }),
    growth: Type.Array(DailyUsage, {
      description:
        'The last 30 days, today included, oldest first. Days on which the service did not run are missing.',
    }),
    version: Text('The version of the instance that answers.', '0.1.0'),
    uptime: Count('The seconds since that instance started.', 86_400),
    free_disk: FreeDisk,
    last_backup: Type.Unsafe<LastBackup | null>(LastBackup),
    settings: Type.Array(Setting, {
      description: 'The settings that this instance has read, in force since it started.',
    }),
  },
  {
    title: 'Overview',
    description: 'The figures of all users that are not deleted, and the instance that answers.',
  },
)

const OVERVIEW = described({
  operationId: 'getOverview',
  summary: 'Get the figures of the whole service',
  description:
    `With more than ${USERS_PER_PAGE} users, the figures are up to a minute old. They are read in parts while other ` +
    'requests run. The log has an audit event for each request.',
  tag: 'overview',
  querystring: NO_QUERY,
  response: { 200: Overview },
  responses: { 200: 'The figures.' },
})
