import type { Operator } from './operator.ts'

export interface NewOperator extends Omit<Operator, 'createdAt'> {
  /** SHA-256 of the token: 64 lower-case hexadecimal digits. */
  readonly tokenSha256: string
}

/** PORT: the operators. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface OperatorLedger {
  /**
   * Records an operator. Of concurrent calls with one name, one succeeds. Rejects with `operator_exists` if the name is
   * taken, and with `operator_count_exceeded` if there are `MAX_OPERATORS`.
   */
  addOperator(operator: NewOperator): Promise<Operator>

  /** The operator whose token has this SHA-256. One indexed read. */
  findOperatorOfToken(sha256: string): Promise<Operator | undefined>

  findOperator(name: string): Promise<Operator | undefined>

  /** Up to `limit` operators by name, bytewise, after the name `after`. */
  listOperators(page: {
    readonly after: string | undefined
    readonly limit: number
  }): Promise<readonly Operator[]>

  /** Guarantees that the token of the operator is not found from now on. Resolves to whether there was such an operator. */
  removeOperator(name: string): Promise<boolean>
}

export const MAX_OPERATORS = 100
