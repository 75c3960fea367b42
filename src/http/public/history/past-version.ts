import type { FastifyRequest } from 'fastify'
import type { UserSubject } from '../../../core/auth/subject.ts'
import type { FindPast } from '../../../core/history/history.ts'
import { isVersion } from '../../../core/objects/object-key.ts'
import { describing } from '../../openapi/operation.ts'
import { pathNotFound } from '../../server/problem.ts'
import { VERSION } from '../../routes/past-version-resource.ts'
import { requireUser } from '../access-token.ts'

export const HISTORY = '/users/me/history'
export const PAST_VERSION = `${HISTORY}/:version`

/** A past version, and the user who names it. */
export interface OwnVersion extends FindPast {
  readonly subject: UserSubject
}

/** The version in the path. Throws as `requireUser` does, and `not_found` for text that is no version. */
export function pastVersion(request: FastifyRequest): OwnVersion {
  const { version } = request.params as { readonly version: string }
  const subject = requireUser(request, ['history'])
  if (isVersion(version)) return { subject, version }
  throw pathNotFound()
}

export const ofHistory = describing({ tag: 'history' })

export const VERSION_PARAM = {
  type: 'string',
  format: 'uuid',
  description: 'The version of the file, as in its ETag.',
  examples: [VERSION],
} as const
