import type { FileName } from '../files/file-name.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { RebuildJournal } from './journal.ts'
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

/** What one run works with; its parts report to it. */
export interface RebuildRun extends RebuilderOptions, RebuildRequest {
  readonly counts: RebuildCounts
  readonly report: (finding: RebuildFinding) => void
}

export function startRun(options: RebuilderOptions, request: RebuildRequest): RebuildRun {
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
