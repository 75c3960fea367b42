import { AppError } from '../errors.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { type Balance, FIGURES } from './inventory.ts'
import type { UserId } from '../users/user-id.ts'
import { verifyFiles } from './files.ts'
import { verifyObjects, verifyUnknownUsers } from './objects.ts'
import {
  type Difference,
  startRun,
  type Verification,
  type VerifierOptions,
  type VerifyRequest,
  type VerifyRun,
} from './verify-run.ts'
import type { Version } from '../objects/object-key.ts'
import type { ResumableUpload } from '../resumable/resumable-ledger.ts'

export type Verifier = ReturnType<typeof createVerifier>

const USERS_PER_PAGE = 10
const PARALLEL_USERS = 4

export function createVerifier(options: VerifierOptions) {
  const { inventory } = options

  async function verify(request: VerifyRequest): Promise<Verification> {
    const run = startRun(options, request)
    try {
      await (request.userId === undefined ? verifyAll(run) : verifyOne(run, request.userId))
    } catch (error) {
      // Adapters report `unavailable` for what the caller aborted.
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
    if (run.verification.objects > 0) return
    throw new AppError('not_found', `User "${userId}" does not exist and has no objects.`)
  }

  /**
   * Compares `quotas` with `files` and `uploads`, and all three with the object store in both directions,
   * while the service runs; running uploads are never findings (README.md). Uses constant memory. `repair`
   * corrects quotas, ends uploads whose bytes are lost, and moves orphaned objects to garbage. It never
   * changes a file's row, and moves objects of an unknown user only if that user is named. Rejects with
   * `unavailable` if the database or the object store fails, with `not_found` for a user without any row or
   * object, and with the signal's reason; repairs made until then stay.
   */
  return { verify }
}

async function verifyUser(run: VerifyRun, balance: Balance): Promise<void> {
  const { verification, readOneIn } = run
  await verifyQuota(run, balance)
  const sound = await verifyObjects(run, balance)
  // If every row met its object in the listing, the objects need no second check.
  const { file_count: files, history_count: versions } = balance.counted
  const isComplete = sound === files + versions
  if (!isComplete || readOneIn !== undefined) {
    await verifyFiles(run, { userId: balance.userId, isComplete })
  }
  await verifyUploads(run, balance.userId)
  verification.users += 1
  verification.files += files
  run.onProgress?.(verification)
}

/** Compares a user's quota with a recount of the same snapshot; `repair` recounts under the user's lock. */
async function verifyQuota(run: VerifyRun, balance: Balance): Promise<void> {
  const { userId, isUser } = balance
  const drift = driftOf(balance)
  if (drift.length === 0) return
  const repaired = run.repair && isUser
  if (repaired) await run.inventory.recount(userId)
  for (const found of drift) {
    // A recount can't tell whose figures these are.
    run.report({ ...found, userId, repaired: repaired && found.kind !== 'stray_quota' })
  }
}

function driftOf(balance: Balance): readonly Difference[] {
  const { isUser, recorded, counted, wrongDevices } = balance
  if (recorded === undefined) return [{ kind: 'missing_quota' }]
  const drift = FIGURES.filter((kind) => recorded[kind] !== counted[kind]).map(
    (kind): Difference => ({ kind, recorded: recorded[kind], found: counted[kind] }),
  )
  if (wrongDevices > 0) drift.push({ kind: 'device_usage', found: wrongDevices })
  return isUser ? drift : [{ kind: 'stray_quota' }, ...drift]
}

const UPLOADS_PER_PAGE = 100
const PARALLEL_UPLOADS = 8

/**
 * Checks that the store has every recorded byte of the user's unfinished uploads. `repair` ends the others as lost, as
 * their next append would.
 */
async function verifyUploads(run: VerifyRun, userId: UserId): Promise<void> {
  const { ledger, signal, verification } = run
  let after: Version | undefined
  do {
    signal.throwIfAborted()
    const page = await ledger.listResumables({ userId, after, limit: UPLOADS_PER_PAGE })
    await forEachConcurrent(page, PARALLEL_UPLOADS, async (upload) => {
      if (await isBroken(run, upload)) await reportBroken(run, upload)
    })
    verification.uploads += page.length
    after = page.at(-1)?.version
  } while (after !== undefined)
}

async function isBroken(
  { ledger, objects, signal }: VerifyRun,
  upload: ResumableUpload,
): Promise<boolean> {
  const { userId, version, objectKey: key, offset, partSize, storeState } = upload
  const pieces = await ledger.listPieces(version)
  if (await objects.isStored({ key, offset, partSize, storeState, pieces, signal })) return false
  // A record that is the same before and after the check did not change in between, so the store had to have its bytes.
  const found = await ledger.findResumable({ userId, version })
  return (
    found?.state === upload.state &&
    found.epoch === upload.epoch &&
    found.offset === offset &&
    found.storeState === storeState
  )
}

async function reportBroken(run: VerifyRun, upload: ResumableUpload): Promise<void> {
  const { userId, version, name, objectKey, offset: recorded } = upload
  const outcome = run.repair
    ? await run.ledger.abort({ userId, version, endedAs: 'lost' })
    : undefined
  if (outcome === 'committed') return
  const repaired = outcome !== undefined
  run.report({ kind: 'broken_upload', userId, name, objectKey, recorded, repaired })
}
