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
      readonly isFinished: boolean
      readonly counts: RebuildCounts
      readonly figures: RebuildFigures
    }

export interface Rebuilder {
  /**
   * Rebuilds the database from the object store alone: the newest object of each user and name becomes a private file
   * with the SHA-256 of its content, older ones become garbage, and objects without a readable name stay. Requires an
   * empty database or an interrupted run; otherwise returns `refused` and changes nothing. No service may use the
   * database meanwhile. Uses constant memory. If objects are unreadable and not skipped, the rebuild stays unfinished.
   * Rejects with `unavailable` if the database or the object store fails, and with the signal's reason; the next call
   * continues the run.
   */
  rebuild(request: RebuildRequest): Promise<Rebuilt>

  /** Whether a run was interrupted: the database then holds only a part of the files. */
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
      // Nothing continues it. If this fails, a later rebuild takes over the journal.
      if (request.dryRun && start === 'begun') await journal.finish().catch(() => undefined)
      // Adapters report `unavailable` for what the caller aborted.
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

/** A dry run keeps the journal of an interrupted run; unreadable objects keep it for another run. */
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

/** Bounds how many digests are lost if the process is killed. */
const OBJECTS_PER_PAGE = 64
const PARALLEL_READS = 8

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
