import { capacityFigures } from '../../../core/quota/capacity.ts'
import type { Repository } from '../../../core/files/repository.ts'
import type { CapacityReport } from '../../../core/ledger/ledger.ts'
import { described } from '../../openapi/operation.ts'
import { Bytes, Count, grantReply, Text, TimeOrNull, USAGE } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { requireUser } from '../access-token.ts'

export interface CapacityOptions {
  readonly repository: Repository
  readonly maxFiles: number
}

const GrantInForce = Type.Object(
  {
    source: Text('`base`, `device`, or what else it came from.'),
    reference: Text('Unique among those of its source.'),
    bytes: Bytes('What it adds to the capacity.'),
    model: Type.Optional(Text('Of the device.')),
    starts_at: TimeOrNull('When it came into force.'),
    ends_at: TimeOrNull('When it ends.'),
  },
  { title: 'GrantInForce' },
)

const ALWAYS = { starts_at: null, ends_at: null } as const
const BASE = { ...ALWAYS, source: 'base', reference: 'base' } as const

const { state, ...FIGURES } = USAGE

const Reply = Type.Object(
  {
    user_id: Text('Whose it is.', 'alice'),
    ...FIGURES,
    max_files: Count('How many there may be.', 100_000),
    state,
    grants: Type.Array(GrantInForce, {
      examples: [
        [
          { ...BASE, bytes: 1_073_741_824 },
          {
            ...ALWAYS,
            source: 'device',
            reference: 'camera-17',
            bytes: 5_368_709_120,
            model: 'camera-2',
          },
        ],
      ],
    }),
  },
  { title: 'Capacity', description: 'The figures of a repository at one moment.' },
)

/** `GET /users/me/capacity`: one consistent snapshot, with the grants that add up to the capacity. */
export const capacityRoutes: FastifyPluginAsyncTypebox<CapacityOptions> = async (app, options) => {
  const { repository, maxFiles } = options

  app.route({
    method: ['GET', 'HEAD'],
    url: '/users/me/capacity',
    ...CAPACITY,
    handler: async (request, reply) => {
      const user = requireUser(request)
      const report = await repository.reportCapacity(user)
      void reply.header('cache-control', 'no-store')
      return {
        user_id: user.userId,
        ...capacityFigures(report.usage),
        max_files: maxFiles,
        grants: grantsOf(report),
      }
    },
  })
}

function grantsOf({ baseCapacity, grants }: CapacityReport) {
  return [{ ...BASE, bytes: baseCapacity }, ...grants.map(grantReply)]
}

const CAPACITY = described({
  operationId: 'getCapacity',
  summary: 'Capacity of the own repository, and the grants that add up to it',
  tag: 'capacity',
  response: { 200: Reply },
  responses: {
    200: {
      description: 'The figures of one moment, in bytes.',
      headers: ['Cache-Control'],
      example: { capacity: 6_442_450_944, available: 6_442_444_801 },
    },
  },
})
