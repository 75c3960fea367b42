import { sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import type { Operator } from '../../core/operators/operator.ts'
import {
  MAX_OPERATORS,
  type NewOperator,
  type OperatorLedger,
} from '../../core/operators/operator-ledger.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'

export const OPERATOR_OPERATIONS = {
  addOperator: { through: 'transaction', run: add, effect: 'frees' },
  findOperatorOfToken: { through: 'queryPrepared', run: findByDigest, effect: 'reads' },
  findOperator: { through: 'query', run: find, effect: 'reads' },
  listOperators: { through: 'readInOrder', run: list, effect: 'reads' },
  removeOperator: { through: 'query', run: remove, effect: 'frees' },
} as const satisfies Operations<OperatorLedger>

/** A transaction that is repeated because its outcome is unknown finds the row that it has made. */
async function add(tx: LedgerTx, operator: NewOperator): Promise<Operator> {
  const { db, now } = tx
  const { name, role, tokenSha256 } = operator
  await lockOperators(tx)
  const { rows } = await sql<Operator>`
    INSERT INTO operators (name, role, token_sha256, created_at)
    SELECT ${name}, ${role}, ${tokenSha256}, ${now}
    WHERE (SELECT COUNT(*) FROM operators WHERE name <> ${name}) < ${MAX_OPERATORS}
    ON CONFLICT (name) DO UPDATE SET role = excluded.role
      WHERE operators.token_sha256 = excluded.token_sha256
    RETURNING ${COLUMNS}
  `.execute(db)
  if (rows[0] !== undefined) return rows[0]
  if ((await find(tx, name)) !== undefined) {
    throw new AppError('operator_exists', 'An operator with this name already exists.')
  }
  const detail = `There is already the maximum of ${MAX_OPERATORS} operators.`
  throw new AppError('operator_count_exceeded', detail, { facts: { max_operators: MAX_OPERATORS } })
}

/** Orders those who add one, so that none misses the row of another: a row that all of them write. */
async function lockOperators({ db }: LedgerTx): Promise<void> {
  await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES ('operators', '', 0)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder
  `.execute(db)
}

async function findByDigest({ db }: LedgerTx, digest: string): Promise<Operator | undefined> {
  const { rows } = await sql<Operator>`
    SELECT ${COLUMNS} FROM operators WHERE token_sha256 = ${digest}
  `.execute(db)
  return rows[0]
}

async function find({ db }: LedgerTx, name: string): Promise<Operator | undefined> {
  const { rows } = await sql<Operator>`
    SELECT ${COLUMNS} FROM operators WHERE name = ${name}
  `.execute(db)
  return rows[0]
}

async function list(
  { db }: LedgerTx,
  { after, limit }: Parameters<OperatorLedger['listOperators']>[0],
): Promise<readonly Operator[]> {
  const { rows } = await sql<Operator>`
    SELECT ${COLUMNS} FROM operators WHERE name > ${after ?? ''} ORDER BY name LIMIT ${limit}
  `.execute(db)
  return rows
}

async function remove({ db }: LedgerTx, name: string): Promise<boolean> {
  const { numAffectedRows } = await sql`DELETE FROM operators WHERE name = ${name}`.execute(db)
  return numAffectedRows !== 0n
}

const COLUMNS = sql`name, role, created_at AS "createdAt"`
