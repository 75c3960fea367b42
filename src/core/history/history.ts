import { sleep } from '../async/sleep.ts'
import { coversName, hasPrefix } from '../auth/scope.ts'
import { actorOf, type Subject } from '../auth/subject.ts'
import { EVERY_NAME } from '../files/file-name.ts'
import { MAX_SCANNED_FILES } from '../files/listing.ts'
import { openContent, type SelectContent } from '../files/open-content.ts'
import type { RestoreTerms } from '../files/operation.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Version } from '../objects/object-key.ts'
import { cutPage } from '../pagination.ts'
import type { CommittedUpload } from '../uploads/upload-ledger.ts'
import type { AccountLedger } from '../users/account-ledger.ts'
import { assertActive } from '../users/caller.ts'
import type { EndPosition, HistoryLedger, PastListing } from './history-ledger.ts'
import { type PastVersion, versionGone, versionNotFound } from './past-version.ts'

export interface PastPage {
  /** Newest end first. Can be fewer than the limit, or none, before the last page. */
  readonly versions: readonly PastVersion[]
  /** `undefined` on the last page. */
  readonly next: EndPosition | undefined
}

export interface FindPast {
  readonly subject: Subject
  readonly version: Version
}

export interface ListPast extends PastListing {
  readonly subject: Subject
}

export interface RestorePast extends RestoreTerms, FindPast {}

export interface PurgeAllPast {
  readonly subject: Subject
  readonly signal: AbortSignal
}

/** What a user has replaced and deleted. Every method tells an inactive user so. */
export type History = ReturnType<typeof createHistory>

export interface HistoryOptions {
  readonly ledger: HistoryLedger & AccountLedger
  readonly objects: ObjectStore
}

const PURGED_AT_ONCE = 100

export function createHistory(options: HistoryOptions) {
  const { ledger, objects } = options

  /** A version outside the subject's prefix is as one that does not exist. */
  async function find({ subject, version }: FindPast): Promise<PastVersion | 'gone'> {
    const found = await ledger.findPastVersion({ ...actorOf(subject), version })
    if (found === 'gone') return found
    // The ledger finds nothing of an inactive user, whose token may stay cached as valid for a few seconds.
    if (found === undefined) await assertActive(ledger, subject)
    if (found === undefined || !coversName(subject, found.name)) throw versionNotFound()
    return found
  }

  async function stat(past: FindPast): Promise<PastVersion> {
    const found = await find(past)
    if (found !== 'gone') return found
    // That a version was in the history is told only to subjects for all names.
    throw hasPrefix(past.subject) ? versionNotFound() : versionGone()
  }

  return {
    /** Rejects with `version_gone` for a while after the version has left the history, then with `not_found`. */
    stat,
    async list({ subject, name, prefix, after, limit }: ListPast): Promise<PastPage> {
      const bounds = { limit: limit + 1, maxScanned: MAX_SCANNED_FILES }
      const page = { ...actorOf(subject), name, prefix, after, ...bounds }
      const found = await ledger.listHistory(page)
      const { page: versions, last } = cutPage(found.versions, limit)
      if (versions.length === 0) await assertActive(ledger, subject)
      return { versions, next: last ?? found.scannedTo }
    },
    /** As `stat` and `openContent`. */
    open: (past: FindPast & SelectContent) =>
      openContent({ objects, find: () => stat(past), select: past.select, signal: past.signal }),
    /** See `HistoryLedger.restoreVersion`. Reverifies the subject first. */
    async restore(past: RestorePast): Promise<CommittedUpload> {
      const { subject, version, name, overwrite, precondition } = past
      const { scope } = subject
      await subject.reverify()
      const restore = { version, name, overwrite, precondition, scope }
      return await ledger.restoreVersion({ ...actorOf(subject), ...restore })
    },
    /** See `HistoryLedger.purgeVersion`. Reverifies the subject first. Running downloads continue. */
    async purge({ subject, version }: FindPast): Promise<void> {
      // What a subject with a prefix does not see, it does not purge; of a version that is gone, nothing is left to.
      if (hasPrefix(subject) && (await find({ subject, version })) === 'gone') return
      await subject.reverify()
      await ledger.purgeVersion({ ...actorOf(subject), version })
    },
    /** Purges all versions that have ended by the call, page by page; what is purged stays so if the signal aborts. */
    async purgeAll({ subject, signal }: PurgeAllPast): Promise<void> {
      await subject.reverify()
      const caller = actorOf(subject)
      const any = { name: undefined, prefix: EVERY_NAME, after: undefined }
      const { versions } = await ledger.listHistory({ ...caller, ...any, limit: 1, maxScanned: 1 })
      const endedBy = versions[0]?.endedAt
      if (endedBy === undefined) return await assertActive(ledger, caller)
      const page = { ...caller, endedBy, limit: PURGED_AT_ONCE }
      while ((await ledger.purgeHistory(page)) === PURGED_AT_ONCE) await sleep(1, signal)
    },
  }
}
