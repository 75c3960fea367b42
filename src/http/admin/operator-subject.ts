import type { FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { type Operator, type OperatorArea, operatorIn } from '../../core/auth/subject.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Users } from '../../core/users/users.ts'

/** A `preHandler` hook, so that the path is a user's: makes the operator in their account the subject. See `operatorIn`. */
export function operatorHook(
  users: Pick<Users, 'find'>,
  area: OperatorArea,
): preHandlerAsyncHookHandler {
  return async (request) => {
    const { user_id } = request.params as { readonly user_id: UserId }
    request.subject = await operatorIn(users, user_id, area)
  }
}

/** Of a request after `operatorHook`. */
export function operatorOf({ subject }: FastifyRequest): Operator {
  if (subject?.kind !== 'operator') throw new TypeError('The route has no hook of the operator')
  return subject
}
