import { AppError } from '../errors.ts'

/** Each may do what those before it may. */
export const OPERATOR_ROLES = ['viewer', 'support', 'admin'] as const

export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** What an operator with the role does. */
export const ROLE_MEANINGS: Readonly<Record<OperatorRole, string>> = {
  viewer: 'reads',
  support: 'also changes the status, access tokens, links and files of users',
  admin: 'may do everything',
}

/** Times are milliseconds since 1970 by the database's clock. */
export interface Operator {
  readonly name: string
  readonly role: OperatorRole
  readonly createdAt: number
}

/** Who sends a request of the admin API. `name` is `undefined` with the `ADMIN_TOKEN`. */
export type ActingOperator = Pick<Operator, 'role'> & { readonly name: string | undefined }

export const OPERATOR_NAME_PATTERN = '^[a-z0-9][a-z0-9._-]{0,63}$'

const NAME = new RegExp(OPERATOR_NAME_PATTERN)

export function isOperatorName(text: string): boolean {
  return NAME.test(text)
}

/** Throws `operator_forbidden` unless the operator has at least the role `required`. */
export function assertRole({ role }: ActingOperator, required: OperatorRole): void {
  if (OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(required)) return
  throw new AppError('operator_forbidden', `This needs an operator with the role "${required}".`, {
    facts: { required },
  })
}
