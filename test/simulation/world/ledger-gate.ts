import type { Ledger } from '../../../src/database/ledger/ledger.ts'
import { outage } from '../../support/faults/faults.ts'
import { DATABASE_TIMEOUT_MS, MAX_ZOMBIE_MS } from '../plan/parameters.ts'
import { type AppliedCall, type AskedCall, latency, type Seam } from './seam.ts'

/** The same ledger with a network and its faults before it: a call's effect and its answer are two events. */
export function gateLedger(ledger: Ledger, seam: Seam): Ledger {
  function gate<A, R>(method: keyof Ledger, work: (argument: A) => Promise<R>) {
    return (argument: A): Promise<R> => call(seam, { method, argument, work: () => work(argument) })
  }

  return {
    begin: gate('begin', (upload) => ledger.begin(upload)),
    extend: gate('extend', (upload) => ledger.extend(upload)),
    renew: gate('renew', (upload) => ledger.renew(upload)),
    commit: gate('commit', (upload) => ledger.commit(upload)),
    abort: gate('abort', (upload) => ledger.abort(upload)),
    deleteFile: gate('deleteFile', (file) => ledger.deleteFile(file)),
    updateFile: gate('updateFile', (change) => ledger.updateFile(change)),
    listFiles: gate('listFiles', (page) => ledger.listFiles(page)),
    check: () => ledger.check(),
    findAccount: (userId) => ledger.findAccount(userId),
    listAccounts: (page) => ledger.listAccounts(page),
    reportCapacity: (userId) => ledger.reportCapacity(userId),
    findFile: gate('findFile', (file) => ledger.findFile(file)),
    checkBegin: gate('checkBegin', (upload) => ledger.checkBegin(upload)),
    confirm: () => ledger.confirm(),
    endLeases: () => ledger.endLeases(),
    listExpiredUploads: gate('listExpiredUploads', (options) => ledger.listExpiredUploads(options)),
    listAbortedUploads: gate('listAbortedUploads', (page) => ledger.listAbortedUploads(page)),
    forgetUploads: gate('forgetUploads', (options) => ledger.forgetUploads(options)),
    listGarbage: gate('listGarbage', (page) => ledger.listGarbage(page)),
    noteAbortedRemovals: gate('noteAbortedRemovals', (done) => ledger.noteAbortedRemovals(done)),
    noteGarbageRemovals: gate('noteGarbageRemovals', (done) => ledger.noteGarbageRemovals(done)),
    listPendingUploads: (page) => ledger.listPendingUploads(page),
    measureBacklog: (cap) => ledger.measureBacklog(cap),
    measureJournal: (cap) => ledger.measureJournal(cap),
    acquireLeaderLease: gate('acquireLeaderLease', (claim) => ledger.acquireLeaderLease(claim)),
    releaseLeaderLease: gate('releaseLeaderLease', (claim) => ledger.releaseLeaderLease(claim)),
    findUserToPurge: gate('findUserToPurge', (after) => ledger.findUserToPurge(after)),
    createResumable: gate('createResumable', (upload) => ledger.createResumable(upload)),
    findResumable: gate('findResumable', (upload) => ledger.findResumable(upload)),
    findVersion: gate('findVersion', (upload) => ledger.findVersion(upload)),
    listResumables: gate('listResumables', (page) => ledger.listResumables(page)),
    measureUnfinished: gate('measureUnfinished', (userId) => ledger.measureUnfinished(userId)),
    prepareAppend: gate('prepareAppend', (append) => ledger.prepareAppend(append)),
    claimAppend: gate('claimAppend', (claim) => ledger.claimAppend(claim)),
    claimFinish: gate('claimFinish', (claim) => ledger.claimFinish(claim)),
    recordAppend: gate('recordAppend', (record) => ledger.recordAppend(record)),
    endFinish: gate('endFinish', (finish) => ledger.endFinish(finish)),
    listPieces: gate('listPieces', (version) => ledger.listPieces(version)),
    askToStop: gate('askToStop', (upload) => ledger.askToStop(upload)),
    listAskedToStop: gate('listAskedToStop', (holder) => ledger.listAskedToStop(holder)),
    fence: gate('fence', (upload) => ledger.fence(upload)),
    purgeDeletedUsers: gate('purgeDeletedUsers', (options) => ledger.purgeDeletedUsers(options)),
  }
}

interface LedgerCall<R> {
  readonly method: keyof Ledger
  readonly argument: unknown
  readonly work: () => Promise<R>
}

type Settle = () => void

function call<R>(seam: Seam, { method, argument, work }: LedgerCall<R>): Promise<R> {
  const { timeline, random, faults, observer } = seam
  const actor = timeline.actor()
  observer.asked({ method, argument, actor } as AskedCall)
  const fault = faults.ledger(method)
  const name = `ledger ${method}${fault === undefined ? '' : ` (${fault})`}`

  function apply(after: number, then: (outcome: PromiseSettledResult<R>) => void): void {
    const run = async (): Promise<void> => {
      const [outcome] = await Promise.allSettled([work()])
      observer.applied({ method, argument, actor, outcome } as AppliedCall)
      then(outcome)
    }
    timeline.add({ after, label: `${name} applies`, isOutside: true, run })
  }

  function answer(after: number, run: Settle): void {
    timeline.add({ after, label: `${name} answers`, run })
  }

  const long = (): number => random.below(DATABASE_TIMEOUT_MS - 5000)
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(outage())
    const settle = (outcome: PromiseSettledResult<R>): void =>
      outcome.status === 'fulfilled' ? resolve(outcome.value) : reject(outcome.reason)
    switch (fault) {
      case undefined:
        return apply(latency(random), (outcome) => answer(latency(random), () => settle(outcome)))
      case 'refused':
        return answer(latency(random), fail)
      case 'answer lost':
        return apply(latency(random), () => answer(latency(random), fail))
      case 'late':
        answer(DATABASE_TIMEOUT_MS, fail)
        return apply(DATABASE_TIMEOUT_MS + random.below(MAX_ZOMBIE_MS), () => undefined)
      case 'slow':
        return apply(long(), (outcome) => answer(latency(random), () => settle(outcome)))
      case 'slow answer':
        return apply(latency(random), (outcome) => answer(long(), () => settle(outcome)))
    }
  })
}
