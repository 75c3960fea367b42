import type { LedgerWrite, WriteKind } from '../../core/uploads/ledger-space.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { type BatchStatement, inBatches } from './batcher.ts'
import { untilFound } from '../ledger/eviction-search.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { Session } from './session.ts'

/** A row for each method of the port. One that is missing, or is no method of the port, does not compile. */
export type Operations<P extends Readonly<Record<keyof P, Method>>> = {
  readonly [M in keyof P]: Operation<P[M]>
}

export type Method = (...args: never[]) => Promise<unknown>

/**
 * What an operation is: its function, how that reaches the database, and what it writes. The methods of the ports
 * (`createMethods`), the calls of the writer thread (`sqlite/writer/`) and the checks of free space
 * (`database/operations.ts`) follow from the rows.
 */
export type Operation<M extends Method = Method> = Traits<M> &
  (Bound<M> | Single<M> | (Parameters<M>[0] extends OfUser ? Change<M> : never))

interface Traits<M extends Method> {
  /**
   * What it does to the disk of the database: a function of the arguments if they decide that, or if a call can change
   * many rows. On SQLite, all operations but those that read run on the writer thread, and
   * `core/uploads/ledger-space.ts` refuses those that must leave the rest of the disk to others.
   */
  readonly effect: WriteKind | ((...args: Parameters<M>) => LedgerWrite)
  /** Starts the writer thread, if it does not run yet. */
  readonly startsWriter?: true
  /** Runs on the writer thread even if its caller has given up, and may have acted since then. */
  readonly runsLate?: true
}

interface Single<M extends Method> {
  /**
   * The method of the session that runs it: in one transaction, which is durable when the operation resolves; as
   * statements outside of one, of which each is durable when it returns; or as reads of a page in index order.
   */
  readonly through: 'transaction' | 'query' | 'queryPrepared' | 'readInOrder'
  readonly run: Run<M>
}

interface Change<M extends Method> {
  /** As `transaction`, in the order of the user's changes. */
  readonly through: 'change' | 'changeRows'
  readonly run: Run<M>
  /** On PostgreSQL, calls of the same time share a transaction; `run` is for those without effect (`batcher.ts`). */
  readonly statement?: BatchStatement<Parameters<M>[0], Awaited<ReturnType<M>>>
  /** May evict files: is repeated until its search for them is finished. */
  readonly mayEvict?: true
}

/** Where one `run` is not enough. */
interface Bound<M extends Method> {
  /** Makes the method from the session. */
  readonly bind: (session: Session) => M
}

type Run<M extends Method> = (
  tx: LedgerTx,
  ...args: Parameters<M>
) => Promise<Awaited<ReturnType<M>>>

interface OfUser {
  readonly userId: UserId
}

/** The methods of a port, as its rows say. */
export function createMethods<P extends Readonly<Record<keyof P, Method>>>(
  operations: Operations<P>,
  session: Session,
): P {
  const rows = Object.entries(operations as Readonly<Record<string, Operation>>)
  const methods = rows.map(([name, operation]) => [name, methodOf(operation, session)])
  return Object.fromEntries(methods) as P
}

function methodOf(operation: Operation, session: Session): Method {
  if ('bind' in operation) return operation.bind(session)
  const { run, through } = operation
  if (through === 'change' || through === 'changeRows') {
    const runInOrder = session[through]
    const change: Method = (...args) => runInOrder(userOf(args), (tx) => run(tx, ...args))
    const { mayEvict, statement } = operation
    const steps: Method =
      mayEvict === true ? (...args) => untilFound(() => change(...args)) : change
    const { batcher, database, context } = session
    if (statement === undefined || batcher === undefined) return steps
    const queryOf = statement.compile(database.kysely, context)
    return inBatches({ batcher, queryOf, toResult: statement.toResult, steps })
  }
  const runOnce = session[through]
  return (...args) => runOnce((tx) => run(tx, ...args))
}

function userOf([first]: readonly unknown[]): UserId {
  return (first as OfUser).userId
}
