import { sleep } from '../async/sleep.ts'
import { EVERY_NAME } from '../files/file-name.ts'
import { MAX_SCANNED_FILES } from '../files/listing.ts'
import { openContent, type SelectContent } from '../files/open-content.ts'
import { limitFor } from '../quota/shares.ts'
import type { VersionRestore } from '../files/operation.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Version } from '../objects/object-key.ts'
import { cutPage } from '../pagination.ts'
import type { CommittedUpload } from '../uploads/upload-ledger.ts'
import type { AccountLedger } from '../users/account-ledger.ts'
import { actorOf, assertActive, type AuthorizedCaller } from '../users/caller.ts'
import type { EndPosition, FindPastVersion, HistoryLedger, ListPast } from './history-ledger.ts'
import { type PastVersion, versionGone, versionNotFound } from './past-version.ts'

export interface PastPage {
  /** Newest end first. Can be fewer than the limit, or none, before the last page. */
  readonly versions: readonly PastVersion[]
  /** `undefined` on the last page. */
  readonly next: EndPosition | undefined
}

export interface RestorePast extends AuthorizedCaller, VersionRestore {}

export interface DropPast extends AuthorizedCaller {
  readonly version: Version
}

export interface DropAllPast extends AuthorizedCaller {
  readonly signal: AbortSignal
}

/** What a user has replaced and deleted. Every method tells an inactive user so. */
export type History = ReturnType<typeof createHistory>

export interface HistoryOptions {
  readonly ledger: HistoryLedger & AccountLedger
  readonly objects: ObjectStore
  readonly maxFiles: number
}

const DROPPED_AT_ONCE = 100

export function createHistory(options: HistoryOptions) {
  const { ledger, objects, maxFiles } = options

  async function stat({ userId, userCreatedAt, version }: FindPastVersion): Promise<PastVersion> {
    const found = await ledger.findPastVersion({ userId, userCreatedAt, version })
    if (found === 'gone') throw versionGone()
    if (found !== undefined) return found
    // The ledger finds nothing of an inactive user, whose token may stay cached as valid for a few seconds.
    await assertActive(ledger, { userId, userCreatedAt })
    throw versionNotFound()
  }

  return {
    /** Rejects with `version_gone` for a while after the version has left the history, then with `not_found`. */
    stat,
    async list(page: ListPast): Promise<PastPage> {
      const { limit } = page
      const bounds = { limit: limit + 1, maxScanned: MAX_SCANNED_FILES }
      const found = await ledger.listHistory({ ...page, ...bounds })
      const { page: versions, last } = cutPage(found.versions, limit)
      if (versions.length === 0) await assertActive(ledger, page)
      return { versions, next: last ?? found.scannedTo }
    },
    /** As `stat` and `openContent`. */
    open: (past: FindPastVersion & SelectContent) =>
      openContent({ objects, find: () => stat(past), select: past.select, signal: past.signal }),
    /** See `HistoryLedger.restoreVersion`. Reverifies the caller first. */
    async restore(past: RestorePast): Promise<CommittedUpload> {
      await past.reverify()
      const { version, name, overwrite, precondition, scope } = past
      const restore = { version, name, overwrite, precondition, scope }
      const limits = { maxFiles: limitFor(maxFiles, past.credential) }
      return await ledger.restoreVersion({ ...actorOf(past), ...restore, ...limits })
    },
    /** See `HistoryLedger.dropVersion`. Reverifies the caller first. Running downloads continue. */
    async drop({ userId, userCreatedAt, reverify, version }: DropPast): Promise<void> {
      await reverify()
      await ledger.dropVersion({ userId, userCreatedAt, version })
    },
    /** Drops all versions that have ended by the call, page by page; what is dropped stays so if the signal aborts. */
    async dropAll({ userId, userCreatedAt, reverify, signal }: DropAllPast): Promise<void> {
      await reverify()
      const caller = { userId, userCreatedAt }
      const any = { name: undefined, prefix: EVERY_NAME, after: undefined }
      const { versions } = await ledger.listHistory({ ...caller, ...any, limit: 1, maxScanned: 1 })
      const endedBy = versions[0]?.endedAt
      if (endedBy === undefined) return await assertActive(ledger, caller)
      const page = { ...caller, endedBy, limit: DROPPED_AT_ONCE }
      while ((await ledger.dropHistory(page)) === DROPPED_AT_ONCE) await sleep(1, signal)
    },
  }
}
