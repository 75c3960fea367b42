import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { readStoredDigest } from '../objects/stored-digest.ts'
import { collectObjects } from './collect.ts'
import type { FoundObject, RebuildFigures, RebuildJournal, RebuildPosition } from './journal.ts'
import {
  type RebuildCounts,
  type RebuilderOptions,
  type RebuildRequest,
  type RebuildRun,
  startRun,
} from './run.ts'

export type Rebuilt =
  | { readonly refused: true }
  | {
      readonly refused: false
      /** Whether nothing is left that a next run would go on with. */
      readonly isFinished: boolean
      readonly counts: RebuildCounts
      readonly figures: RebuildFigures
    }

export interface Rebuilder {
  /**
   * Makes the books anew from the object store alone: for each user and name the newest object becomes a private file,
   * with a SHA-256 of what was read; older ones become garbage, and what has no readable name is left alone. Works on an
   * empty database only, or goes on where it was interrupted; else it answers `refused` and changes nothing. No service
   * may run on the database meanwhile. Memory does not grow with the number of objects. Where objects can't be read it is
   * not finished, so that a next run can bring them back, unless it is told to skip them.
   *
   * Rejects with `unavailable` when database or object store fails and with the reason of `signal` when that aborts;
   * calling it again then goes on.
   */
  rebuild(request: RebuildRequest): Promise<Rebuilt>

  /** Whether a run was interrupted, so that the database holds only a part of the files. */
  isUnfinished(): Promise<boolean>
}

export function createRebuilder(options: RebuilderOptions): Rebuilder {
  const { journal } = options

  async function rebuild(request: RebuildRequest): Promise<Rebuilt> {
    const run = startRun(options, request)
    let start: Awaited<ReturnType<RebuildJournal['begin']>> | undefined
    try {
      start = await journal.begin()
      if (start === 'refused') return { refused: true }
      await collectObjects(run)
      if (!request.dryRun) {
        await readDigests(run)
        await settle(run)
      }
    } catch (error) {
      // Nothing is to go on with it. What fails here leaves a journal that a rebuild takes for its own.
      if (request.dryRun && start === 'begun') await journal.finish().catch(() => undefined)
      // Adapters say `unavailable` of what the caller itself has ended.
      request.signal.throwIfAborted()
      throw error
    }
    const figures = await journal.figures()
    const isFinished = isOver({ ...request, start, counts: run.counts })
    if (isFinished) await journal.finish()
    return { refused: false, isFinished, counts: run.counts, figures }
  }

  return { rebuild, isUnfinished: () => journal.isUnfinished() }
}

/** What a dry run finds begun stays, for the run that is to go on with it; so does what could not be read. */
function isOver({
  dryRun,
  skipUnreadable = false,
  start,
  counts,
}: Pick<RebuildRequest, 'dryRun' | 'skipUnreadable'> & {
  readonly start: string
  readonly counts: RebuildCounts
}): boolean {
  if (dryRun) return start === 'begun'
  return skipUnreadable || counts.found.unreadable_object === 0
}

/** Objects that one transaction takes to the books. */
const OBJECTS_PER_TRANSACTION = 500

async function settle(run: RebuildRun): Promise<void> {
  const { journal, garbageDelayMs, signal, counts } = run
  let after: RebuildPosition | undefined
  do {
    signal.throwIfAborted()
    const settled = await journal.settle({ after, limit: OBJECTS_PER_TRANSACTION, garbageDelayMs })
    for (const { as, userId, name, objectKey } of settled) {
      if (as === 'garbage') run.report({ kind: 'replaced_object', userId, name, objectKey })
    }
    counts.settled += settled.length
    run.onProgress?.(counts)
    after = settled.at(-1)
  } while (after !== undefined)
}

/** So many digests are lost at most when the process is killed. */
const OBJECTS_PER_PAGE = 64
const PARALLEL_READS = 8

/** Reads the newest object of each user and name and notes its digest; reports those that can't be read. */
async function readDigests(run: RebuildRun): Promise<void> {
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
