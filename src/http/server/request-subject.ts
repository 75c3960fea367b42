import type { FastifyRequest } from 'fastify'
import type { Action } from '../../core/auth/scope.ts'
import { assertMay, type Subject } from '../../core/auth/subject.ts'
import { AppError } from '../../core/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Who acts. `null` until a hook finds out: `accessTokenPlugin` (which leaves it without a token), `requireLink` or
     * `operatorHook`. `undefined` on listeners without subjects.
     */
    subject: Subject | null | undefined
  }
}

/**
 * Who acts. Throws `access_token_missing` if nobody is known, and as `assertMay` does. Only for routes with a hook that
 * finds the subject.
 */
export function subjectOf(request: FastifyRequest, anyOf: readonly [Action, ...Action[]]): Subject {
  const subject = request.getDecorator<Subject | null>('subject')
  if (subject === null) throw accessTokenMissing()
  assertMay(subject, anyOf)
  return subject
}

function accessTokenMissing(): AppError {
  return new AppError(
    'access_token_missing',
    'This request needs an access token, as "Authorization: Bearer" or in the cookie "access_token".',
  )
}
