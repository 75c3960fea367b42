import { sleep } from '../async/sleep.ts'
import type { AuditLedger } from '../audit/audit-ledger.ts'
import { ACTIONS_KEPT_MS, MAX_ACTIONS } from '../audit/audit-trail.ts'
import type { HistoryLedger } from '../history/history-ledger.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'
import type { UserId } from '../users/user-id.ts'
import { type Failures, ifRoom, NO_ROOM } from './failures.ts'
import type { LeaderLeases } from './leader-lease.ts'
import type { RemovalRun, SweepProgress } from './removals.ts'
import type { SweepLedger } from './sweep-ledger.ts'

export interface SweepRun extends RemovalRun, ExpiryRun {
  readonly ledger: SweepLedger & HistoryLedger & UploadLedger & AuditLedger & LeaderLeases
  readonly signal: AbortSignal
  readonly maxMs: number
  readonly eventLifetimeMs?: number
  /** Up to which user old changes are forgotten. */
  readonly changesSwept: { last: UserId | undefined }
  /** Called for each page, with its rows. */
  readonly onPurged: (rows: number) => void
}

export interface ExpiryRun {
  readonly ledger: SweepLedger & UploadLedger
  readonly signal: AbortSignal
  /** Called for each page, with how many of its uploads were aborted. */
  readonly onExpired: (uploads: number) => void
}

type Step = () => Promise<SweepProgress>

const PAGE = 100

/** With so many failures, the cause is not individual users. */
const MAX_FAILED_USERS = 500

/** Each call aborts a page of uploads whose lease has ended. */
export function expiry({ ledger, signal, onExpired }: ExpiryRun, failures: Failures): Step {
  return async () => {
    const page = await ledger.listExpiredUploads({ except: failures.users(), limit: PAGE })
    const failedBefore = failures.users().length
    let aborted = 0
    for (const { userId, version } of page) {
      // Each attempt may wait for a lock until its timeout.
      if (failures.users().includes(userId)) continue
      const abort = { userId, version, expiredOnly: true }
      const settled = await failures.attemptFor(userId, () => ledger.abort(abort))
      if (settled === 'aborted' || settled === 'forgotten') aborted += 1
      await sleep(1, signal)
    }
    onExpired(aborted)
    const failed = failures.users().length
    const isShorter = aborted > 0 || failed > failedBefore
    return isShorter && failed < MAX_FAILED_USERS ? 'more' : 'done'
  }
}

/**
 * Each call purges a page of one user's rows; users who can't be purged are skipped. Users are asked for once and in
 * order: searching from the first one again would skip all that have only aborted uploads left, for every page.
 */
export function purge({ ledger, onPurged }: SweepRun, failures: Failures): Step {
  let after: UserId | undefined
  let current: UserId | undefined
  let isDone = false
  return async () => {
    const userId = isDone ? undefined : (current ?? (await ledger.findUserToPurge(after)))
    isDone = userId === undefined
    if (userId === undefined) return 'done'
    const page = { userId, limit: PAGE }
    const rows = (await failures.attemptFor(userId, () => ledger.purgeDeletedUsers(page))) ?? 0
    current = rows < PAGE ? undefined : userId
    after = userId
    onPurged(rows)
    return 'more'
  }
}

const USERS_PER_PAGE = 20

/** Each call ends a page of the expired files of some users, until the disk has no room to record that. */
export function fileExpirer({ ledger }: SweepRun, failures: Failures): Step {
  return async () => {
    const except = failures.users()
    const users = await ledger.listUsersWithExpired({ except, limit: USERS_PER_PAGE })
    for (const userId of users) {
      const page = { userId, limit: PAGE }
      const expired = await failures.attemptFor(userId, () =>
        ifRoom(() => ledger.expireFiles(page)),
      )
      if (expired === NO_ROOM) return 'done'
    }
    return users.length > 0 ? 'more' : 'done'
  }
}

/** Small, because PostgreSQL takes 0.3 ms for each version while it holds the user's lock. */
const VERSIONS_PER_PAGE = 10

/** Each call purges a page of each of some users' versions that have expired or exceed the allowance. */
export function historyTrimmer({ ledger }: SweepRun, failures: Failures): Step {
  return async () => {
    const users = await ledger.listUsersToTrim({ except: failures.users(), limit: USERS_PER_PAGE })
    for (const userId of users) {
      const trim = { userId, limit: VERSIONS_PER_PAGE }
      await failures.attemptFor(userId, () => ledger.trimHistory(trim))
    }
    return users.length > 0 ? 'more' : 'done'
  }
}

/** Each call aborts a page of unfinished drops whose link has ended, and so releases what they have reserved. */
export function dropEnder({ ledger }: SweepRun, failures: Failures): Step {
  return async () => {
    const page = await ledger.listEndedDrops({ except: failures.users(), limit: PAGE })
    for (const { userId, version } of page) {
      const abort = { userId, version, endedAs: 'cancelled' } as const
      await failures.attemptFor(userId, () => ledger.abort(abort))
    }
    return page.length > 0 ? 'more' : 'done'
  }
}

/** Each call deletes a page of settled uploads from the journal. */
export function forgetCommitted({ ledger, onForgotten }: SweepRun): Step {
  return async () => {
    const uploads = await ledger.forgetUploads({ limit: PAGE })
    onForgotten(uploads)
    return uploads > 0 ? 'more' : 'done'
  }
}

const EVENT_LIFETIME_MS = 7 * 24 * 60 * 60_000
const CHANGES_PER_PAGE = 100

/** In each sweep, beside those with changes to forget. */
const PAGES_OF_USERS = 20

/** Goes on where the sweep before has stopped: with many users, one sweep is too short to look at all of them. */
export function changeForgetter({
  ledger,
  eventLifetimeMs: lifetimeMs = EVENT_LIFETIME_MS,
  changesSwept: swept,
}: SweepRun): Step {
  let pages = 0
  return async () => {
    const page = { after: swept.last, lifetimeMs, limit: CHANGES_PER_PAGE }
    const { forgotten, last } = await ledger.forgetChanges(page)
    swept.last = last
    pages += 1
    const isShort = pages < PAGES_OF_USERS && last !== undefined
    return forgotten > 0 || isShort ? 'more' : 'done'
  }
}

/** Each call deletes a page of the audit trail, until one is not full: counting what is left takes a while. */
export function actionForgetter({ ledger }: SweepRun): Step {
  let isDone = false
  return async () => {
    if (isDone) return 'done'
    const bounds = { lifetimeMs: ACTIONS_KEPT_MS, most: MAX_ACTIONS, limit: PAGE }
    isDone = (await ledger.forgetOperatorActions(bounds)) < PAGE
    return isDone ? 'done' : 'more'
  }
}
