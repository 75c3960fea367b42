import type { FileName } from '../files/file-name.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { RebuildJournal } from './journal.ts'
import type { UserId } from '../users/user-id.ts'

/** Findings that the rebuild leaves alone, so that an operator has to look at them. */
export const LEFT_ALONE_KINDS = [
  'unnamed_object',
  'foreign_object',
  'copied_object',
  'unreadable_object',
] as const

/** Closed list of what a rebuild reports (docs/backup.md, "Rebuilding the database"). */
export const REBUILD_FINDING_KINDS = [
  // An object that was replaced or deleted, by its marker, or because a newer one has its name. They become garbage.
  'past_object',
  'replaced_object',
  ...LEFT_ALONE_KINDS,
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
  readonly garbageDelayMs: number
}

export interface RebuildRequest {
  /** Reads no content and leaves the database unchanged. */
  readonly dryRun: boolean
  /** Finishes without the objects that can't be read. If false, the rebuild stays unfinished because of them. */
  readonly skipUnreadable?: boolean
  /** Called with each finding; none is kept. A dry run does not report past and replaced objects. */
  readonly onFinding: (finding: RebuildFinding) => void
  /** Called once if an earlier run was interrupted, whose work is done again. */
  readonly onRestart?: () => void
  readonly onProgress?: (counts: RebuildCounts) => void
  readonly signal: AbortSignal
}

export interface RebuildCounts {
  listed: number
  readObjects: number
  readBytes: number
  settled: number
  users: number
  /** The newest object of each user and name that is not past; `bytes` is their size. */
  files: number
  bytes: number
  /** Older objects of the same users and names. */
  replaced: number
  /** Objects that the store knows to be past. */
  past: number
  readonly found: Record<RebuildFindingKind, number>
}

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
    users: 0,
    files: 0,
    bytes: 0,
    replaced: 0,
    past: 0,
    found: none as Record<RebuildFindingKind, number>,
  }
  const report = (finding: RebuildFinding): void => {
    counts.found[finding.kind] += 1
    request.onFinding(finding)
  }
  return { ...options, ...request, counts, report }
}
