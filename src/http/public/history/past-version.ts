import type { FastifyRequest } from 'fastify'
import type { TokenCaller } from '../../../core/auth/access-tokens.ts'
import type { FindPastVersion } from '../../../core/history/history-ledger.ts'
import { isVersion } from '../../../core/objects/object-key.ts'
import { describing } from '../../openapi/operation.ts'
import { pathNotFound } from '../../server/problem.ts'
import { VERSION } from '../../shared-routes/past-version-resource.ts'
import { requireUser } from '../access-token.ts'

export const HISTORY = '/users/me/history'
export const PAST_VERSION = `${HISTORY}/:version`

/** The version in the path. Throws as `requireUser` does, and `not_found` for text that is no version. */
export function pastVersion(request: FastifyRequest): TokenCaller & FindPastVersion {
  const { version } = request.params as { readonly version: string }
  const caller = requireUser(request, ['history'])
  if (isVersion(version)) return { ...caller, version }
  throw pathNotFound()
}

export const ofHistory = describing({ tag: 'history' })

export const VERSION_PARAM = {
  type: 'string',
  format: 'uuid',
  description: 'The version of the file, as in its ETag.',
  examples: [VERSION],
} as const
