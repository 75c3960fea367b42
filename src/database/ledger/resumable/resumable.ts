import type { CompiledQuery } from 'kysely'
import type { ResumableLedger } from '../../../core/uploads/resumable/resumable-ledger.ts'
import type { UserId } from '../../../core/users/user-id.ts'
import { PREPARED } from '../../statement.ts'
import { type AppendStatements, toClaim } from '../../postgres/append-statements.ts'
import type { LedgerTx } from '../ledger-sql.ts'
import { askToStop, claimAppend, claimFinish, endFinish, fence } from './claim.ts'
import { isPrepared, prepare } from './prepare.ts'
import {
  findResumable,
  findVersion,
  listAskedToStop,
  listPieces,
  listResumables,
  measureUnfinished,
} from './reads.ts'
import { recordAppend } from './record.ts'

type Work<T> = (tx: LedgerTx) => Promise<T>

export interface ResumableLedgerOptions {
  /** Runs a transaction in order with the user's other transactions. */
  readonly change: <T>(userId: UserId, work: Work<T>) => Promise<T>
  readonly query: <T>(work: Work<T>) => Promise<T>
  /** Runs a statement in order with the user's transactions. */
  readonly execute: <R>(userId: UserId, statement: CompiledQuery<R>) => Promise<readonly R[]>
  /** `undefined` if the engine has none. */
  readonly statements: AppendStatements | undefined
}

/** Locks are taken in the order `quotas`, `uploads`, `resumable_uploads`, `garbage`. */
export function createResumableLedger(
  options: ResumableLedgerOptions,
): Omit<ResumableLedger, 'createResumable'> {
  const { change, execute, statements } = options
  const query = <T>(work: Work<T>): Promise<T> =>
    options.query((tx) => work({ ...tx, db: tx.db.withPlugin(PREPARED) }))
  return {
    findResumable: (upload) => query((tx) => findResumable(tx, upload)),
    findVersion: (upload) => query((tx) => findVersion(tx, upload)),
    listResumables: (page) => query((tx) => listResumables(tx, page)),
    measureUnfinished: (userId) => query((tx) => measureUnfinished(tx, userId)),
    async prepareAppend(append) {
      if (await query((tx) => isPrepared(tx, append))) return
      await change(append.userId, (tx) => prepare(tx, append))
    },
    async claimAppend(claim) {
      const statement = statements?.claim(claim)
      const [row] = statement ? await execute(claim.userId, statement) : []
      return row ? toClaim(row) : await change(claim.userId, (tx) => claimAppend(tx, claim))
    },
    claimFinish: (claim) => change(claim.userId, (tx) => claimFinish(tx, claim)),
    async recordAppend(record) {
      const statement = statements?.record(record)
      const rows = statement ? await execute(record.userId, statement) : []
      return rows.length > 0 || (await change(record.userId, (tx) => recordAppend(tx, record)))
    },
    endFinish: (finish) => query((tx) => endFinish(tx, finish)),
    listPieces: (version) => query((tx) => listPieces(tx, version)),
    askToStop: (upload) => query((tx) => askToStop(tx, upload)),
    listAskedToStop: (holder) => query((tx) => listAskedToStop(tx, holder)),
    fence: (upload) => query((tx) => fence(tx, upload)),
  }
}
