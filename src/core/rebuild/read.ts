import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { readStoredDigest } from '../objects/stored-digest.ts'
import type { FoundObject, RebuildPosition } from './journal.ts'
import type { RebuildRun } from './run.ts'

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

async function digestOf(run: RebuildRun, object: FoundObject): Promise<string | undefined> {
  const { objects, signal, counts } = run
  const { objectKey: key, size } = object
  const onBytes = (bytes: number): void => {
    counts.readBytes += bytes
    run.onProgress?.(counts)
  }
  const { sha256 } = await readStoredDigest({ objects, key, size, signal, onBytes })
  if (sha256 !== undefined) counts.readObjects += 1
  return sha256
}
