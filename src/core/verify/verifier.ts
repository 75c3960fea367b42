import { AppError } from '../errors.ts'
import { type Finding, FINDING_KINDS, type FindingKind } from './finding.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { Balance, Inventory } from './inventory.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { UserId } from '../users/user-id.ts'
import { verifyFiles } from './files.ts'
import { verifyObjects, verifyUnknownUsers } from './objects.ts'
import { verifyQuota } from './quota.ts'

export interface VerifierOptions {
  readonly inventory: Inventory
  readonly objects: ObjectStore
  /** How long an orphan that was handed to garbage is kept, in milliseconds. */
  readonly garbageDelayMs: number
}

export interface VerifyRequest {
  /** One user, or all, and the objects of users that nobody knows, when `undefined`. */
  readonly userId: UserId | undefined
  /** Mends what can be mended without loss; without it nothing is written. */
  readonly repair: boolean
  /** Reads one file in so many, chosen at random, and compares its digest; 1 reads all, `undefined` none. */
  readonly readOneIn: number | undefined
  /** Called with every finding as it is made; none is kept. */
  readonly onFinding: (finding: Finding) => void
  /** Called often, with the figures so far. */
  readonly onProgress?: (verification: Verification) => void
  readonly signal: AbortSignal
}

/** What a run has looked at and found. */
export interface Verification {
  users: number
  files: number
  objects: number
  /** Files whose content was read, and its bytes. */
  readFiles: number
  readBytes: number
  /** By kind, those that this run mended not included. */
  readonly remaining: Record<FindingKind, number>
  repaired: number
}

/** What one run works with; its parts report to it. */
export interface VerifyRun extends VerifierOptions, VerifyRequest {
  readonly verification: Verification
  readonly report: (finding: Finding) => void
}

export interface Verifier {
  /**
   * Compares `quotas` with `files` and `uploads`, and the object store with all three, both ways, beside a service
   * that goes on; an upload under way is never a finding (ARCHITECTURE.md, "Verify"). Memory does not grow with the
   * number of users, files or objects. `repair` mends quotas, and hands orphaned objects to garbage; it never touches a
   * file's row, and an object of a user that nobody knows only when that user is named.
   *
   * Rejects with `unavailable` when database or object store fails, with `not_found` for a user of whom there is
   * nothing, and with the reason of `signal` when that aborts; what was mended until then stays so.
   */
  verify(request: VerifyRequest): Promise<Verification>
}

/** A page is one statement, which adds up the rows of that many users. */
const USERS_PER_PAGE = 10
const PARALLEL_USERS = 4

export function createVerifier(options: VerifierOptions): Verifier {
  const { inventory } = options

  async function verify(request: VerifyRequest): Promise<Verification> {
    const run = startRun(options, request)
    try {
      await (request.userId === undefined ? verifyAll(run) : verifyOne(run, request.userId))
    } catch (error) {
      // Adapters say `unavailable` of what the caller itself has ended.
      request.signal.throwIfAborted()
      throw error
    }
    return run.verification
  }

  async function verifyAll(run: VerifyRun): Promise<void> {
    let after: UserId | undefined
    do {
      run.signal.throwIfAborted()
      const page = await inventory.listBalances({ after, limit: USERS_PER_PAGE })
      await forEachConcurrent(page, PARALLEL_USERS, (balance) => verifyUser(run, balance))
      after = page.at(-1)?.userId
    } while (after !== undefined)
    await verifyUnknownUsers(run)
  }

  async function verifyOne(run: VerifyRun, userId: UserId): Promise<void> {
    const balance = await inventory.findBalance(userId)
    if (balance !== undefined) return await verifyUser(run, balance)
    await verifyObjects(run, { userId, readAt: 0 })
    if (run.verification.objects === 0) throw new AppError('not_found', 'There is no such user.')
  }

  return { verify }
}

async function verifyUser(run: VerifyRun, balance: Balance): Promise<void> {
  const { verification, readOneIn } = run
  await verifyQuota(run, balance)
  const sound = await verifyObjects(run, balance)
  // When every row met its object in the listing there is no need to ask for each object again.
  const isComplete = sound === balance.counted.fileCount
  if (!isComplete || readOneIn !== undefined) {
    await verifyFiles(run, { userId: balance.userId, isComplete })
  }
  verification.users += 1
  verification.files += balance.counted.fileCount
  run.onProgress?.(verification)
}

function startRun(options: VerifierOptions, request: VerifyRequest): VerifyRun {
  const none = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, 0]))
  const verification: Verification = {
    users: 0,
    files: 0,
    objects: 0,
    readFiles: 0,
    readBytes: 0,
    remaining: none as Record<FindingKind, number>,
    repaired: 0,
  }
  const report = (finding: Finding): void => {
    if (finding.repaired) verification.repaired += 1
    else verification.remaining[finding.kind] += 1
    request.onFinding(finding)
  }
  return { ...options, ...request, verification, report }
}
