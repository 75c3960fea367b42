import { onAbort } from '../async/on-abort.ts'
import { AppError } from '../errors.ts'
import { actorOf, type Subject, watchAccess } from '../auth/subject.ts'
import { inactiveUser, statusOf } from '../users/caller.ts'
import type { AccountLedger } from '../users/account-ledger.ts'
import type { UserId } from '../users/user-id.ts'
import type { Change, ChangePosition } from './change.ts'
import type { ChangeLedger, ChangesRead } from './change-ledger.ts'
import { createWatches, type WaitEnd } from './watches.ts'
import type { FileLedger } from '../files/file-ledger.ts'
import type { HistoryLedger } from '../history/history-ledger.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'

export interface ReadFeed {
  readonly subject: Subject
  readonly after: ChangePosition
  readonly limit: number
}

export interface FollowFeed {
  readonly subject: Subject
  readonly after: ChangePosition
  /** Changes in a page. */
  readonly limit: number
  /** Milliseconds without a change until an empty page. */
  readonly quietMs: number
  /** Milliseconds until the following ends, without an error. */
  readonly maxMs: number
  /** Each ends it as well. */
  readonly ends: readonly AbortSignal[]
  /** Runs each read. Many who follow must not keep others waiting. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>
}

/** The changes of each account, in commit order, each exactly once (I14). */
export type Feed = ReturnType<typeof createFeed>

export interface FeedOptions {
  readonly ledger: ChangeLedger & Pick<AccountLedger, 'findAccount'>
  /** How often the changes of other processes are looked for; 1 s by default. */
  readonly pollMs?: number | undefined
  /** How often the subjects who follow are verified again; 10 s by default. */
  readonly reverifyMs?: number | undefined
}

const POLL_MS = 1_000
const REVERIFY_MS = 10_000

export function createFeed(options: FeedOptions) {
  const { ledger, pollMs = POLL_MS, reverifyMs = REVERIFY_MS } = options
  const watches = createWatches(ledger, pollMs)

  /** Why the changes of the account cannot be read. */
  async function refusal(subject: Subject): Promise<AppError> {
    return inactiveUser(await statusOf(ledger, subject))
  }

  async function read({ subject, after, limit }: ReadFeed) {
    const page = { ...actorOf(subject), after: after.sequence, limit }
    const found = await ledger.readChanges(page)
    if (found === undefined) throw await refusal(subject)
    if (!follows(after, found)) throw cursorExpired()
    return found.changes
  }

  return {
    /** The position of the newest change. Rejects as `inactiveUser` says for an inactive account. */
    async latest(subject: Subject): Promise<ChangePosition> {
      const latest = await ledger.latestChange(actorOf(subject))
      if (latest === undefined) throw await refusal(subject)
      return latest
    },

    /**
     * Up to `limit` changes after the position, none left out. Rejects with `cursor_expired` if some of them are no
     * longer known, or if the position is not of this history; as `latest` for an inactive account.
     */
    read,

    /**
     * Yields every change after the position in pages: first those that there are, or an empty page, then each change
     * as soon as it is committed, or within about a second if another process commits it, and an empty page after each
     * quiet period. Throws as `read` does, `too_many_requests` if the user has `MAX_WATCHES` already, and the refusal
     * of a subject who is no longer authorized.
     */
    async *follow({
      subject,
      after,
      limit,
      quietMs,
      maxMs,
      ends,
      inTurn,
    }: FollowFeed): AsyncGenerator<readonly Change[], void> {
      using watch = watches.add(subject)
      using access = watchAccess(subject, reverifyMs)
      const over = new AbortController()
      using listening = new DisposableStack()
      for (const end of [...ends, access.lost]) {
        listening.use(onAbort(end, () => over.abort()))
      }
      const late = setTimeout(() => over.abort(), maxMs).unref()
      listening.defer(() => clearTimeout(late))
      const { signal } = over
      let position = after
      let quietUntil = 0
      for (let end: WaitEnd = 'woken'; end !== 'over';) {
        if (end === 'woken') {
          const page = { subject, after: position, limit }
          const changes = await inTurn(() => read(page))
          position = changes.at(-1) ?? position
          if (changes.length > 0 || quietUntil === 0) {
            yield changes
            quietUntil = performance.now() + quietMs
          }
          if (changes.length === limit && !signal.aborted) continue
        } else {
          yield []
          quietUntil = performance.now() + quietMs
        }
        const { sequence } = position
        end = await watch.next({ sequence, ms: quietUntil - performance.now(), signal })
      }
      access.lost.throwIfAborted()
    },

    /** Wakes those who follow the user. Called after each commit of this process that changes a file. */
    wake: (userId: UserId) => watches.wake(userId),
  }
}

/**
 * Whether the changes come right after the position: none between is missing, and the first one, or the newest change if
 * there are none, says that the change at the position was committed at the same time. Its row need not exist any more.
 */
function follows(after: ChangePosition, { latest, changes }: ChangesRead): boolean {
  const [first] = changes
  if (first === undefined) return latest.sequence === after.sequence && latest.at === after.at
  return (
    first.previousAt === after.at &&
    changes.every(({ sequence }, index) => sequence === after.sequence + 1 + index)
  )
}

function cursorExpired(): AppError {
  return new AppError(
    'cursor_expired',
    'The changes after this cursor are no longer known. List the files again, and follow its `changes_cursor`.',
  )
}

type FileChanges = Pick<UploadLedger, 'commit'> &
  Pick<FileLedger, 'deleteFile' | 'updateFile' | 'changeFiles'> &
  Pick<HistoryLedger, 'restoreVersion'>

/** Calls `wake` after each method of the ledger that has changed a file. */
export function waking<L extends FileChanges>(ledger: L, wake: (userId: UserId) => void): L {
  function after<T extends { readonly userId: UserId }, R>(run: (request: T) => Promise<R>) {
    return async (request: T): Promise<R> => {
      const result = await run(request)
      wake(request.userId)
      return result
    }
  }
  return {
    ...ledger,
    commit: after(ledger.commit),
    deleteFile: after(ledger.deleteFile),
    updateFile: after(ledger.updateFile),
    changeFiles: after(ledger.changeFiles),
    restoreVersion: after(ledger.restoreVersion),
  }
}
