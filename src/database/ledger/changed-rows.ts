import { type FileChange, isDiscarded } from '../../core/files/file-change.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { PastVersion } from '../../core/history/past-version.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { SqlContext } from './ledger-sql.ts'

export type EndedFile = File &
  Pick<PastVersion, 'endedAt' | 'endedAs'> & {
    /** The narrow credential that has ended it; `null` for the account itself. */
    readonly endedBy: string | null
  }

/** The net effect of changes on the rows. */
export interface ChangedRows {
  /** Files whose rows are deleted before others are written, because a version has one row only. */
  readonly cleared: readonly FileName[]
  readonly written: readonly File[]
  /** Versions that leave the history, before others enter it. */
  readonly restored: readonly Version[]
  readonly past: readonly EndedFile[]
  readonly garbage: readonly File[]
}

interface Dated {
  readonly changes: readonly FileChange[]
  /** The narrow credential that makes them. */
  readonly credential: string | undefined
  /** The date of the commit. */
  readonly at: number
}

export function changedRows(context: SqlContext, { changes, credential, at }: Dated): ChangedRows {
  const rows = new Map<FileName, Row>()
  const past = new Map<Version, EndedFile>()
  const restored = new Set<Version>()
  const garbage: File[] = []
  const endedBy = credential ?? null
  /** `before` counts for the first change of a name. */
  const rowOf = (name: FileName, before: File | undefined): Row => {
    const row = rows.get(name) ?? { before, after: undefined }
    rows.set(name, row)
    return row
  }
  for (const change of changes) {
    const { type, file, old } = change
    if (old !== undefined) rowOf(old.name, old).after = undefined
    if (file !== undefined) rowOf(file.name, undefined).after = file
    if (type === 'restored' && !past.delete(file.version)) restored.add(file.version)
    if (old === undefined || old.version === file?.version) continue
    const endedAs = file === undefined ? 'deleted' : 'replaced'
    if (!becomesPast(context, change)) garbage.push(old)
    else past.set(old.version, { ...old, endedAt: at, endedAs, endedBy })
  }
  const { cleared, written } = writes(rows)
  return { cleared, written, restored: [...restored], past: [...past.values()], garbage }
}

interface Row {
  readonly before: File | undefined
  after: File | undefined
}

function writes(rows: ReadonlyMap<FileName, Row>) {
  const written = [...rows.values()].flatMap(({ after }) => after ?? [])
  const places = new Map(written.map(({ version, name }) => [version, name]))
  const cleared = [...rows].filter(([name, { before, after }]) => {
    if (before === undefined) return false
    return after === undefined || (places.get(before.version) ?? name) !== name
  })
  return { cleared: cleared.map(([name]) => name), written }
}

/** Whether the old content becomes history: not if the new file has the same, for at least as long. */
export function becomesPast(
  { historyLifetimeMs }: Pick<SqlContext, 'historyLifetimeMs'>,
  change: FileChange,
): boolean {
  const { file, old } = change
  if (old === undefined || old.version === file?.version || isDiscarded(change)) return false
  return historyLifetimeMs > 0 && !(file !== undefined && isHeld(old, file))
}

type Held = Pick<File, 'sha256' | 'expiresAt'>

/** Whether the new file has the content of the old one, for at least as long. */
export function isHeld(old: Held, file: Held): boolean {
  return file.sha256 === old.sha256 && file.expiresAt >= old.expiresAt
}
