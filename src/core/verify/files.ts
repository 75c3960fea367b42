import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { FileName } from '../files/file-name.ts'
import type { Finding } from './finding.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { FiledObject } from './inventory.ts'
import { confirmMissing } from '../objects/confirm-missing.ts'
import { chunksOf, discardBody } from '../objects/object-body.ts'
import type { OpenedObject } from '../objects/object-store.ts'
import type { UserId } from '../users/user-id.ts'
import type { VerifyRun } from './verifier.ts'

const FILES_PER_PAGE = 500
const PARALLEL_FILES = 8

export interface VerifyFiles {
  readonly userId: UserId
  /** Whether every file is known to have an object of its size, so that only those to be read are looked at. */
  readonly isComplete: boolean
}

/** Looks for the object of each file of a user, and reads some when the run says so. Repairs nothing. */
export async function verifyFiles(
  run: VerifyRun,
  { userId, isComplete }: VerifyFiles,
): Promise<void> {
  let after: FileName | undefined
  do {
    run.signal.throwIfAborted()
    const page = await run.inventory.listFiles({ userId, after, limit: FILES_PER_PAGE })
    await forEachConcurrent(page, PARALLEL_FILES, async (file) => {
      const fault = await faultOf(run, { file, isComplete })
      // The row that was read before the object and still stands after it stood all the while, so the object must have.
      if (fault === undefined || !(await run.inventory.isCurrent(file))) return
      const { name, objectKey } = file
      run.report({ ...fault, userId, name, objectKey, repaired: false })
    })
    after = page.at(-1)?.name
    run.onProgress?.(run.verification)
  } while (after !== undefined)
}

type Fault = Pick<Finding, 'kind' | 'recorded' | 'found'>

async function faultOf(
  run: VerifyRun,
  { file, isComplete }: { readonly file: FiledObject; readonly isComplete: boolean },
): Promise<Fault | undefined> {
  const { objects, signal, readOneIn } = run
  if (readOneIn !== undefined && Math.random() * readOneIn < 1) return await readFault(run, file)
  if (isComplete) return undefined
  const head = await confirmMissing(signal, () => objects.head({ key: file.objectKey, signal }))
  return sizeFault(file, head)
}

function sizeFault(
  { size }: FiledObject,
  object: { readonly size: number } | undefined,
): Fault | undefined {
  if (object === undefined) return { kind: 'missing_object', recorded: size }
  if (object.size !== size) return { kind: 'wrong_size', recorded: size, found: object.size }
  return undefined
}

/** A store can fail at one object for good, such as one that has rotted, while it serves all others. */
async function readFault(run: VerifyRun, file: FiledObject): Promise<Fault | undefined> {
  const { objects, signal } = run
  for (let attempt = 1; ; attempt++) {
    try {
      const opened = await confirmMissing(signal, () =>
        objects.open({ key: file.objectKey, signal }),
      )
      const fault = sizeFault(file, opened)
      if (fault === undefined && opened !== undefined)
        return await digestFault(run, { file, opened })
      if (opened !== undefined) discardBody(opened)
      return fault
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      signal.throwIfAborted()
      // Rejects when it is the store that is down, which says nothing about this object.
      await objects.check(signal)
      if (attempt === READ_ATTEMPTS) return { kind: 'unreadable_object', recorded: file.size }
    }
  }
}

const READ_ATTEMPTS = 2

async function digestFault(
  { verification }: VerifyRun,
  { file, opened }: { readonly file: FiledObject; readonly opened: OpenedObject },
): Promise<Fault | undefined> {
  const hash = createHash('sha256')
  for await (const chunk of chunksOf(opened)) {
    hash.update(chunk)
    verification.readBytes += chunk.byteLength
  }
  verification.readFiles += 1
  const found = hash.digest('hex')
  if (found === file.sha256) return undefined
  return { kind: 'wrong_digest', recorded: file.sha256, found }
}
