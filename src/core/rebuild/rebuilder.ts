import type { FileName } from '../files/file-name.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { collectObjects } from './collect.ts'
import type { RebuildFigures, RebuildJournal, RebuildPosition } from './journal.ts'
import { readDigests } from './read.ts'
import type { UserId } from '../users/user-id.ts'

/** The closed list of what a rebuild tells of single objects (docs/backup.md, "Rebuilding the database"). */
export const REBUILD_FINDING_KINDS = [
  // An older object of a name: it becomes garbage.
  'replaced_object',
  // These are left alone.
  'unnamed_object',
  'foreign_object',
  'copied_object',
  'unreadable_object',
] as const

export type RebuildFindingKind = (typeof REBUILD_FINDING_KINDS)[number]

export interface RebuildFinding {
  readonly kind: RebuildFindingKind
  readonly objectKey: ObjectKey
  readonly userId?: UserId
  readonly name?: FileName
}

export interface RebuilderOptions {
  readonly journal: RebuildJournal
  readonly objects: ObjectStore
  /** How long an object is kept that was not the newest of its name, in milliseconds. */
  readonly garbageDelayMs: number
}

export interface RebuildRequest {
  /** Only looks what there is to do: nothing is read, and the database is left as it was. */
  readonly dryRun: boolean
  /** Whether the run finishes without the objects that can't be read; otherwise they are left for the next run. */
  readonly skipUnreadable?: boolean
  /** Called with every finding as it is made; none is kept. A dry run does not tell of single replaced objects. */
  readonly onFinding: (finding: RebuildFinding) => void
  /** Called often, with the counts so far. */
  readonly onProgress?: (counts: RebuildCounts) => void
  readonly signal: AbortSignal
}

/** What this run has done so far. */
export interface RebuildCounts {
  /** Objects that were listed. */
  listed: number
  /** Objects whose content was read, and its bytes. */
  readObjects: number
  readBytes: number
  /** Objects that were taken to the books. */
  settled: number
  /** Findings by kind. */
  readonly found: Record<RebuildFindingKind, number>
}

export type Rebuilt =
  | { readonly refused: true }
  | {
      readonly refused: false
      /** Whether nothing is left that a next run would go on with. */
      readonly isFinished: boolean
      readonly counts: RebuildCounts
      readonly figures: RebuildFigures
    }

/** What one run works with; its parts report to it. */
export interface RebuildRun extends RebuilderOptions, RebuildRequest {
  readonly counts: RebuildCounts
  readonly report: (finding: RebuildFinding) => void
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

function startRun(options: RebuilderOptions, request: RebuildRequest): RebuildRun {
  const none = Object.fromEntries(REBUILD_FINDING_KINDS.map((kind) => [kind, 0]))
  const counts: RebuildCounts = {
    listed: 0,
    readObjects: 0,
    readBytes: 0,
    settled: 0,
    found: none as Record<RebuildFindingKind, number>,
  }
  const report = (finding: RebuildFinding): void => {
    counts.found[finding.kind] += 1
    request.onFinding(finding)
  }
  return { ...options, ...request, counts, report }
}
