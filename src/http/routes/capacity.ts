import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { availableBytes, capacityState } from '../../core/capacity.ts'
import type { CapacityReport, Ledger } from '../../core/ledger.ts'
import { notActive } from '../../core/not-active.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import type { Grant } from '../../core/user-store.ts'
import { requireUser } from '../plugins/access-token.ts'

export interface CapacityOptions {
  readonly ledger: Ledger
  /** Files that a user may have. */
  readonly maxFiles: number
}

const Time = Type.Union([Type.String(), Type.Null()])

const Reply = Type.Object({
  user_id: Type.String(),
  capacity: Type.Integer(),
  used: Type.Integer(),
  reserved: Type.Integer(),
  available: Type.Integer(),
  file_count: Type.Integer(),
  max_files: Type.Integer(),
  state: Type.String(),
  grants: Type.Array(
    Type.Object({
      source: Type.String(),
      reference: Type.String(),
      bytes: Type.Integer(),
      model: Type.Optional(Type.String()),
      starts_at: Time,
      ends_at: Time,
    }),
  ),
})

/** `GET /users/me/capacity`: the figures of one moment, with the grants in force that add up to the capacity. */
export const capacityRoutes: FastifyPluginAsyncTypebox<CapacityOptions> = async (app, options) => {
  const { ledger, maxFiles } = options

  app.route({
    method: ['GET', 'HEAD'],
    url: '/users/me/capacity',
    schema: { response: { 200: Reply } },
    handler: async (request, reply) => {
      const { userId } = requireUser(request)
      const report = await ledger.reportCapacity(userId)
      // Deleted since its token was verified.
      if (report === undefined) {
        throw notActive(undefined)
      }
      void reply.header('cache-control', 'no-store')
      return { user_id: userId, ...figures(report), max_files: maxFiles, grants: grantsOf(report) }
    },
  })
}

function figures({ usage }: CapacityReport) {
  const { capacity, used, reserved, fileCount } = usage
  return {
    capacity,
    used,
    reserved,
    available: availableBytes(usage),
    file_count: fileCount,
    state: capacityState(usage),
  }
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
