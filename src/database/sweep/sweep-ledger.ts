import type { SweepLedger } from '../../core/sweep/sweep-ledger.ts'
import type { Session } from '../ledger/session.ts'
import { check } from './check.ts'
import { expireFiles, listUsersWithExpired } from './expire.ts'
import { findUserToPurge, purgeDeletedUsers } from './purge.ts'
import {
  forgetChanges,
  forgetUploads,
  listAbortedUploads,
  listEndedDrops,
  listExpiredUploads,
  listGarbage,
  noteAbortedRemovals,
  noteGarbageRemovals,
} from './sweep.ts'

export function createSweepLedger(session: Session): SweepLedger {
  const { database, change, query, readInOrder, transaction } = session
  return {
    listExpiredUploads: (options) => readInOrder((tx) => listExpiredUploads(tx, options)),
    listAbortedUploads: (page) => readInOrder((tx) => listAbortedUploads(tx, page)),
    noteAbortedRemovals: (done) => transaction((tx) => noteAbortedRemovals(tx, done)),
    listEndedDrops: (options) => readInOrder((tx) => listEndedDrops(tx, options)),
    listUsersWithExpired: (options) => readInOrder((tx) => listUsersWithExpired(tx, options)),
    expireFiles: (options) => change(options.userId, (tx) => expireFiles(tx, options)),
    forgetUploads: (options) => query((tx) => forgetUploads(tx, options)),
    forgetChanges: (options) => query((tx) => forgetChanges(tx, options)),
    listGarbage: (page) => readInOrder((tx) => listGarbage(tx, page)),
    noteGarbageRemovals: (done) => transaction((tx) => noteGarbageRemovals(tx, done)),
    findUserToPurge: (after) => query((tx) => findUserToPurge(tx, after)),
    purgeDeletedUsers: (options) => transaction((tx) => purgeDeletedUsers(tx, options)),
    check: () => check(database),
    confirm: () => database.confirm(),
  }
}
