import { CAPACITY_STATES, capacityFigures } from '../../../core/quota/capacity.ts'
import type { FastifyContextConfig } from 'fastify'
import type { CapacityReport, Ledger } from '../../../core/ledger/ledger.ts'
import { inactiveUser } from '../../../core/users/inactive-user.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import type { Grant } from '../../../core/users/user-store.ts'
import { ALWAYS, TOKEN } from '../../openapi/problem-responses.ts'
import { Bytes, Count, OneOf, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { requireUser } from '../access-token.ts'

export interface CapacityOptions {
  readonly ledger: Ledger
  /** Files that a user may have. */
  readonly maxFiles: number
}

const Reply = Type.Object(
  {
    user_id: Type.String({ description: 'Whose it is.' }),
    capacity: Bytes('Bytes that all files may have together: what the grants add up to.'),
    used: Bytes('Bytes of the files.'),
    reserved: Bytes('Bytes that uploads under way have reserved.'),
    available: Bytes('Bytes that are left: max(0, capacity - used - reserved).'),
    file_count: Count('How many files there are.'),
    max_files: Count('How many there may be.'),
    state: OneOf(
      CAPACITY_STATES,
      '`nearing` from 90 % of the capacity, `critical` from 99 %, `exceeded` above it.',
    ),
    grants: Type.Array(
      Type.Object(
        {
          source: Type.String({ description: '`base`, `device`, or what else it came from.' }),
          reference: Type.String({ description: 'Unique among those of its source.' }),
          bytes: Bytes('What it adds to the capacity.'),
          model: Type.Optional(Type.String({ description: 'Of the device.' })),
          starts_at: TimeOrNull('When it came into force.'),
          ends_at: TimeOrNull('When it ends.'),
        },
        { title: 'GrantInForce' },
      ),
    ),
  },
  { title: 'Capacity', description: 'The figures of a repository at one moment.' },
)

/** `GET /users/me/capacity`: the figures of one moment, with the grants in force that add up to the capacity. */
export const capacityRoutes: FastifyPluginAsyncTypebox<CapacityOptions> = async (app, options) => {
  const { ledger, maxFiles } = options

  app.route({
    method: ['GET', 'HEAD'],
    url: '/users/me/capacity',
    schema: { response: { 200: Reply } },
    config: CAPACITY,
    handler: async (request, reply) => {
      const { userId, userCreatedAt } = requireUser(request)
      const report = await ledger.reportCapacity(userId, userCreatedAt)
      // Deleted since its token was verified.
      if (report === undefined) {
        throw inactiveUser(undefined)
      }
      void reply.header('cache-control', 'no-store')
      return {
        user_id: userId,
        ...capacityFigures(report.usage),
        max_files: maxFiles,
        grants: grantsOf(report),
      }
    },
  })
}

function grantsOf({ baseCapacity, grants }: CapacityReport) {
  const always = { starts_at: null, ends_at: null }
  const base = { source: 'base', reference: 'base', bytes: baseCapacity, ...always }
  return [base, ...grants.map(toGrant)]
}

function toGrant({ source, reference, bytes, model, startsAt, endsAt }: Grant) {
  return {
    source,
    reference,
    bytes,
    ...(model === undefined ? {} : { model }),
    starts_at: formatTimestamp(startsAt),
    ends_at: formatTimestamp(endsAt),
  }
}

const CAPACITY = {
  operation: {
    operationId: 'getCapacity',
    summary: 'Capacity of the own repository, and the grants that add up to it',
    tag: 'capacity',
    credentials: 'required',
    responses: {
      200: {
        description: 'The figures of one moment, in bytes.',
        headers: ['Cache-Control'],
        example: {
          user_id: 'alice',
          capacity: 6_442_450_944,
          used: 6143,
          reserved: 0,
          available: 6_442_444_801,
          file_count: 1,
          max_files: 100_000,
          state: 'normal',
          grants: [
            {
              source: 'base',
              reference: 'base',
              bytes: 1_073_741_824,
              starts_at: null,
              ends_at: null,
            },
            {
              source: 'device',
              reference: 'camera-17',
              bytes: 5_368_709_120,
              model: 'camera-2',
              starts_at: null,
              ends_at: null,
            },
          ],
        },
      },
    },
    problems: [...ALWAYS, ...TOKEN, 'access_token_missing'],
  },
} as const satisfies FastifyContextConfig
