import { randomBytes } from 'node:crypto'
import type { ClientAddress } from '../auth/client-address.ts'
import { type FailedAttemptLimiter, tooManyFailedAttempts } from '../auth/failed-attempt-limiter.ts'
import { createLookupBudget } from '../auth/lookup-budget.ts'
import { sha256 } from '../auth/sha256.ts'
import { BoundedMap } from '../bounded-map.ts'
import { AppError } from '../errors.ts'
import type { Operator } from './operator.ts'
import { MAX_OPERATORS, type OperatorLedger } from './operator-ledger.ts'

export interface IssuedOperator extends Operator {
  /** `cro_` and 43 base64url characters. Returned only here, and stored nowhere. */
  readonly token: string
}

export type Operators = ReturnType<typeof createOperators>

export interface OperatorsOptions {
  readonly ledger: OperatorLedger
  readonly failedAttempts: FailedAttemptLimiter
  readonly clock?: () => number
}

const TOKEN = /^cro_[A-Za-z0-9_-]{43}$/

/** Creates the use cases of operators (docs/administration.md). */
export function createOperators({ ledger, failedAttempts, clock }: OperatorsOptions) {
  const budget = createLookupBudget({ max: LOOKUPS, everyMs: WINDOW_MS, clock })
  const valid = new BoundedMap<string, true>(MAX_OPERATORS)

  /** The operator whose token has this SHA-256. Always reads the database, so that a removal takes effect at once. */
  async function findByDigest(digest: string): Promise<Operator | undefined> {
    const operator = await ledger.findOperatorOfToken(digest)
    if (operator === undefined) valid.delete(digest)
    else valid.set(digest, true)
    return operator
  }

  return {
    /** Guarantees a new operator, whose token is returned only here. Rejects as `OperatorLedger.addOperator` does. */
    async add({ name, role }: Pick<Operator, 'name' | 'role'>): Promise<IssuedOperator> {
      const token = `cro_${randomBytes(32).toString('base64url')}`
      const operator = await ledger.addOperator({ name, role, tokenSha256: sha256(token) })
      return { ...operator, token }
    },

    list: (page: Parameters<OperatorLedger['listOperators']>[0]) => ledger.listOperators(page),

    /** Rejects with `not_found`. */
    async find(name: string): Promise<Operator> {
      const operator = await ledger.findOperator(name)
      if (operator === undefined) throw operatorNotFound()
      return operator
    },

    /** Guarantees that every instance refuses the token and the sessions of the operator. Rejects with `not_found`. */
    async remove(name: string): Promise<void> {
      if (!(await ledger.removeOperator(name))) throw operatorNotFound()
    },

    /**
     * The operator with this token; `undefined` if there is none. Rejects with `unavailable`, and with
     * `too_many_requests` if `address` is blocked, this instance does not know the token, and too many of those come
     * from blocked addresses.
     */
    async findByToken(token: string, address: ClientAddress): Promise<Operator | undefined> {
      if (!TOKEN.test(token)) return undefined
      const digest = sha256(token)
      const isSuspect = valid.get(digest) === undefined && failedAttempts.blockedMs(address) > 0
      if (isSuspect && !budget.take()) throw tooManyFailedAttempts(WINDOW_MS)
      return await findByDigest(digest)
    },

    findByDigest,
  }
}

/** Tokens from all blocked addresses together that may be those of operators. */
const LOOKUPS = 100
const WINDOW_MS = 100

function operatorNotFound(): AppError {
  return new AppError('not_found', 'The operator was not found.')
}
