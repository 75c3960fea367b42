import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { Version } from '../objects/object-key.ts'
import type { ResumableUpload } from '../resumable/resumable-ledger.ts'
import type { UserId } from '../users/user-id.ts'
import type { VerifyRun } from './verify-run.ts'

const UPLOADS_PER_PAGE = 100
const PARALLEL_UPLOADS = 8

/**
 * Checks that the store has every recorded byte of the user's unfinished uploads. `repair` ends the others as lost, as
 * their next append would.
 */
export async function verifyUploads(run: VerifyRun, userId: UserId): Promise<void> {
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
