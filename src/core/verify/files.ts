import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { FiledObject } from '../files/file.ts'
import type { PastObject } from './inventory.ts'
import { readStoredDigest } from '../objects/stored-digest.ts'
import type { UserId } from '../users/user-id.ts'
import type { Difference, VerifyRun } from './verify-run.ts'

const FILES_PER_PAGE = 500
const PARALLEL_FILES = 8

export interface VerifyFiles {
  readonly userId: UserId
  /** Every file and past version is known to have an object of its size, so only files to be read are checked. */
  readonly isComplete: boolean
}

/** Checks the object of each file and past version of a user, and reads some if requested. Repairs nothing. */
export async function verifyFiles(
  run: VerifyRun,
  { userId, isComplete }: VerifyFiles,
): Promise<void> {
  for await (const page of pagesOf(run, userId)) {
    run.signal.throwIfAborted()
    await forEachConcurrent(page, PARALLEL_FILES, async (file) => {
      const fault = await faultOf(run, { file, isComplete })
      // A row that stands before and after the check stood throughout, so its object must have existed.
      if (fault === undefined || !(await run.inventory.isCurrent(file))) return
      const { name, objectKey } = file
      run.report({ ...fault, userId, name, objectKey, repaired: false })
    })
    run.onProgress?.(run.verification)
  }
}

async function* pagesOf(
  { inventory }: VerifyRun,
  userId: UserId,
): AsyncGenerator<readonly FiledObject[]> {
  const limit = FILES_PER_PAGE
  let last: FiledObject | undefined
  do {
    const page = await inventory.listFiles({ userId, limit, after: last?.name })
    yield page
    last = page.at(-1)
  } while (last !== undefined)
  let past: PastObject | undefined
  do {
    const page = await inventory.listPast({ userId, limit, after: past })
    yield page
    past = page.at(-1)
  } while (past !== undefined)
}

async function faultOf(
  run: VerifyRun,
  { file, isComplete }: { readonly file: FiledObject; readonly isComplete: boolean },
): Promise<Difference | undefined> {
  const { objects, signal, readOneIn } = run
  if (readOneIn !== undefined && Math.random() * readOneIn < 1) return await readFault(run, file)
  if (isComplete) return undefined
  const head = await objects.head({ key: file.objectKey, signal })
  return sizeFault(file, head)
}

function sizeFault(
  { size }: FiledObject,
  object: { readonly size: number } | undefined,
): Difference | undefined {
  if (object === undefined) return { kind: 'missing_object', recorded: size }
  if (object.size !== size) return { kind: 'wrong_size', recorded: size, found: object.size }
  return undefined
}

async function readFault(run: VerifyRun, file: FiledObject): Promise<Difference | undefined> {
  const { objects, signal, verification } = run
  const { objectKey: key, size, sha256, crc32 } = file
  const onBytes = (bytes: number): void => void (verification.readBytes += bytes)
  const stored = await readStoredDigest({ objects, key, size, signal, onBytes })
  if (stored.sha256 === undefined) {
    if (stored.isUnreadable) return { kind: 'unreadable_object', recorded: size }
    return sizeFault(file, stored.head)
  }
  verification.readFiles += 1
  if (stored.sha256 !== sha256) {
    return { kind: 'wrong_digest', recorded: sha256, found: stored.sha256 }
  }
  if (stored.crc32 === crc32) return undefined
  return { kind: 'wrong_digest', recorded: crcText(crc32), found: crcText(stored.crc32) }
}

/** Other than a SHA-256, it says which digest it is. */
function crcText(crc32: number): string {
  return `crc32:${crc32.toString(16).padStart(8, '0')}`
}
