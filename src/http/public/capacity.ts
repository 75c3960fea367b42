import { readsForUser, type Scoped } from '../../core/auth/scope.ts'
import { capacityFigures } from '../../core/quota/capacity.ts'
import { deviceUsageJson } from '../../core/quota/device-usage.ts'
import { DEVICE } from '../../core/quota/grants.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import type { CapacityReport } from '../../core/users/account-ledger.ts'
import { described } from '../openapi/operation.ts'
import { Bytes, Count, grantReply, Text, TimeOrNull, USAGE } from '../openapi/reply-schemas.ts'
import { Type } from '../openapi/type.ts'
import { DeviceUsageReply } from '../routes/device-usage.ts'
import { requireUser } from './access-token.ts'
import type { UserPlugin } from './user-plugin.ts'

const GrantInForce = Type.Object(
  {
    source: Text('The origin of the grant: `base`, `device` or another one.'),
    reference: Text('Unique among the grants of this source.'),
    bytes: Bytes('Bytes that the grant adds to the capacity.'),
    model: Type.Optional(Text('The model of the device.')),
    starts_at: TimeOrNull('When the grant came into force.'),
    ends_at: TimeOrNull('When the grant ends.'),
  },
  { title: 'GrantInForce' },
)

const { state, ...FIGURES } = USAGE

const Reply = Type.Object(
  {
    user_id: Text('The owner of the repository.', 'alice'),
    ...FIGURES,
    max_files: Count('Maximum number of files.', 100_000),
    unfinished_uploads: Type.Object(
      {
        count: Count('Number of unfinished resumable uploads.', 0),
        bytes: Bytes('Sum of their announced lengths in bytes.', 0),
      },
      { description: 'Resumable uploads that are neither finished nor cancelled.' },
    ),
    history: Type.Object(
      {
        used: Bytes('Bytes of earlier versions; each counts its size and 4 KiB.', 10_239),
        allowance: Bytes(
          'Bytes that they may take. The oldest beyond it are dropped.',
          536_870_912,
        ),
        count: Count('Number of earlier versions.', 1),
        oldest_at: TimeOrNull('When the oldest of them was replaced or deleted.'),
      },
      { description: 'Replaced and deleted files, which do not count as `used`.' },
    ),
    state,
    grants: Type.Array(GrantInForce, {
      examples: [
        [
          baseGrant(1_073_741_824),
          {
            starts_at: null,
            ends_at: null,
            source: 'device',
            reference: 'camera-17',
            bytes: 5_368_709_120,
            model: 'camera-2',
          },
        ],
      ],
    }),
    devices: Type.Array(DeviceUsageReply, {
      description: 'What the files of each device take.',
    }),
  },
  { title: 'Capacity', description: 'A consistent snapshot of the figures of a repository.' },
)

/**
 * `GET /users/me/capacity`: one consistent snapshot with the grants that add up to the capacity, then the unfinished
 * uploads.
 */
export const capacityRoutes: UserPlugin = async (
  app,
  { useCases: { repository }, limits, readInTurn },
) => {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/users/me/capacity',
    ...CAPACITY,
    handler: async (request, reply) => {
      const user = requireUser(request, ['read'])
      // An account can have thousands of devices.
      const report = await readInTurn(reply, () => repository.reportCapacity(user))
      void reply.header('cache-control', 'no-store')
      return {
        user_id: user.userId,
        ...capacityFigures(report.usage),
        max_files: limits.maxFiles,
        unfinished_uploads: report.unfinished,
        history: historyOf(user, report),
        grants: grantsOf(user, report),
        devices: devicesOf(user, report),
      }
    },
  })
}

/** A token for a part of the account gets totals. */
function historyOf(
  caller: Scoped,
  { history: { used, allowance, count, oldestAt } }: CapacityReport,
) {
  const shown = readsForUser(caller) ? oldestAt : undefined
  return { used, allowance, count, oldest_at: formatTimestamp(shown) }
}

/** All grants; for a token for a part of the account, that of its device. */
function grantsOf(caller: Scoped, { baseCapacity, grants }: CapacityReport) {
  if (readsForUser(caller)) return [baseGrant(baseCapacity), ...grants.map(grantReply)]
  const device = caller.scope?.deviceId
  const own = grants.filter(({ source, reference }) => source === DEVICE && reference === device)
  return own.map(grantReply)
}

/** All devices; for a token for a part of the account, its own. */
function devicesOf(caller: Scoped, { devices }: CapacityReport) {
  const own = devices.filter(({ deviceId }) => deviceId === caller.scope?.deviceId)
  return (readsForUser(caller) ? devices : own).map(deviceUsageJson)
}

function baseGrant(bytes: number) {
  return { starts_at: null, ends_at: null, source: 'base', reference: 'base', bytes }
}

const CAPACITY = described({
  operationId: 'getCapacity',
  summary: "Get the caller's capacity and the grants that add up to it",
  tag: 'capacity',
  response: { 200: Reply },
  responses: {
    200: {
      description:
        'A consistent snapshot of the figures, in bytes. A token with a prefix or a device gets no grant and no device ' +
        'but its own, and not when the oldest version ended.',
      headers: ['Cache-Control'],
      example: { capacity: 6_442_450_944, available: 6_442_444_801 },
    },
  },
})
