import { OPERATOR_NAME_PATTERN } from '../../core/operators/operator.ts'
import { REFERENCE_PATTERN } from '../../core/quota/grants.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { describing, type Shared } from '../openapi/operation.ts'
import { Query, USER_ID } from '../openapi/parameters.ts'
import { Type } from '../openapi/type.ts'

export const NO_QUERY = Query({})

export const USER_PARAM = Type.Unsafe<UserId>(USER_ID)

export const OF_USER = {
  params: Type.Object({ user_id: USER_PARAM }),
  querystring: NO_QUERY,
} as const

/** `describing` for what an operator does with one user. */
export function describingUser<const S extends Shared>(shared: S) {
  return describing({ ...OF_USER, ...shared })
}

export const REFERENCE = { type: 'string', pattern: REFERENCE_PATTERN } as const

export const OPERATOR_NAME = Type.String({
  pattern: OPERATOR_NAME_PATTERN,
  description:
    'The name of an operator: 1 to 64 characters from `a-z 0-9 . _ -`, beginning with a letter or digit.',
  examples: ['dana'],
})
