import type { ResumableLedger } from '../../core/resumable/resumable-ledger.ts'
import { untilFound } from '../ledger/eviction-search.ts'
import type { Session } from '../ledger/session.ts'
import { askToStop, claimAppend, claimFinish, endFinish, fence } from './claim.ts'
import { createResumable } from './create.ts'
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

/** Locks are taken in the order `quotas`, `uploads`, `resumable_uploads`, `garbage`. */
export function createResumableLedger(session: Session): ResumableLedger {
  const { database, change, queryPrepared: query } = session
  return {
    createResumable: (upload) =>
      untilFound(() => change(upload.userId, (tx) => createResumable(tx, upload))),
    findResumable: (upload) => query((tx) => findResumable(tx, upload)),
    findVersion: (upload) => query((tx) => findVersion(tx, upload)),
    listResumables: (page) => query((tx) => listResumables(tx, page)),
    measureUnfinished: (userId) => query((tx) => measureUnfinished(tx, userId)),
    async prepareAppend(append) {
      if (await query((tx) => isPrepared(tx, append))) return
      await untilFound(() => change(append.userId, (tx) => prepare(tx, append)))
    },
    claimAppend: (claim) => change(claim.userId, (tx) => claimAppend(tx, claim)),
    claimFinish: (claim) => change(claim.userId, (tx) => claimFinish(tx, claim)),
    recordAppend: (record) => change(record.userId, (tx) => recordAppend(tx, record)),
    endFinish: (finish) => query((tx) => endFinish(tx, finish)),
    listPieces: (version) => query((tx) => listPieces(tx, version)),
    askToStop: (upload) => query((tx) => askToStop(tx, upload)),
    listAskedToStop: (holder) => query((tx) => listAskedToStop(tx, holder)),
    fence: (upload) => query((tx) => fence(tx, upload)),
    confirm: () => database.confirm(),
  }
}
