import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { confirmMissing } from '../objects/confirm-missing.ts'
import { chunksOf, discardBody } from '../objects/object-body.ts'
import type { FoundObject, RebuildPosition } from './journal.ts'
import type { RebuildRun } from './rebuilder.ts'

/** So many digests are lost at most when the process is killed. */
const OBJECTS_PER_PAGE = 64
const PARALLEL_READS = 8

/** Reads the newest object of each user and name and notes its digest; reports those that can't be read. */
export async function readDigests(run: RebuildRun): Promise<void> {
  const { journal, signal } = run
  let after: RebuildPosition | undefined
  do {
    signal.throwIfAborted()
    const page = await journal.listUnread({ after, limit: OBJECTS_PER_PAGE })
    const digests: (FoundObject & { readonly sha256: string })[] = []
    try {
      await forEachConcurrent(page, PARALLEL_READS, async (object) => {
        const sha256 = await digestOf(run, object)
        if (sha256 !== undefined) digests.push({ ...object, sha256 })
        else run.report({ kind: 'unreadable_object', ...object })
      })
    } finally {
      // What was read need not be read again.
      await journal.addDigests(digests)
    }
    after = page.at(-1)
  } while (after !== undefined)
}

const READ_ATTEMPTS = 2

/** A store can fail at one object for good, such as one that has rotted, while it serves all others. */
async function digestOf(run: RebuildRun, object: FoundObject): Promise<string | undefined> {
  const { objects, signal } = run
  for (let attempt = 1; ; attempt++) {
    try {
      return await readDigest(run, object)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      signal.throwIfAborted()
      // Rejects when it is the store that is down, which says nothing about this object.
      await objects.check(signal)
      if (attempt === READ_ATTEMPTS) return undefined
    }
  }
}

async function readDigest(
  run: RebuildRun,
  { objectKey: key, size }: FoundObject,
): Promise<string | undefined> {
  const { objects, signal, counts } = run
  const opened = await confirmMissing(signal, () => objects.open({ key, signal }))
  if (opened?.size !== size) {
    if (opened !== undefined) discardBody(opened)
    return undefined
  }
  const hash = createHash('sha256')
  for await (const chunk of chunksOf(opened)) {
    hash.update(chunk)
    counts.readBytes += chunk.byteLength
    run.onProgress?.(counts)
  }
  counts.readObjects += 1
  return hash.digest('hex')
}
