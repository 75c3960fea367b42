import { type RawBuilder, sql } from 'kysely'
import { type FileChange, keepsDate } from '../../core/files/file-change.ts'
import type { File } from '../../core/files/file.ts'
import { dateAfter, lastModified } from '../../core/files/last-modified.ts'
import { bigint } from './ledger-sql.ts'

/** The dates of an account, as the UPDATE of the `quotas` row that sets them returns them. */
export interface AccountDates {
  /** The date of the commit. */
  readonly at: number
  readonly freedAt: number
}

/** Of rows that are an `AccountDates`. */
export const DATE_COLUMNS = sql`newest_at AS at, freed_at AS "freedAt"`

/**
 * SQL for the date of a commit at `now`, in an UPDATE of the `quotas` row: later than that of any commit before, also if
 * the clock went back or stands still. Deadlines never come from it, but from the clock, because it can be far ahead.
 * A second UPDATE of the same commit has `stepMs` 0.
 */
export function nextDate(
  now: RawBuilder<unknown>,
  stepMs: RawBuilder<unknown> = sql`1`,
): RawBuilder<number> {
  return sql<number>`CASE WHEN ${now} > newest_at THEN ${now} ELSE newest_at + ${stepMs} END`
}

/**
 * The latest date of the contents whose names the changes free, or a later one; 0 if they free none. A batch can free a
 * name after it has changed its file, so the dates before any of its changes count.
 */
export function freedDate(changes: readonly FileChange[]): number {
  if (!changes.some(({ file, old }) => old !== undefined && file?.name !== old.name)) return 0
  const before = changes.flatMap(({ type, old }) => (type === 'replaced' ? [] : (old ?? [])))
  return before.reduce((latest, old) => Math.max(latest, lastModified(old)), 0)
}

/** The part of an UPDATE of the `quotas` row that sets `freed_at`. */
export function raiseFreedAt(date: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`freed_at = CASE WHEN ${bigint(date)} > freed_at THEN ${bigint(date)} ELSE freed_at END`
}

export interface DatedChanges {
  readonly changes: readonly FileChange[]
  /** A file of the planned changes with its dates. */
  readonly dated: (file: File) => File
}

/** Gives the files of planned changes their dates. Until then, the time in them is the clock's. */
export function dateChanges(
  planned: readonly FileChange[],
  { at, freedAt }: AccountDates,
): DatedChanges {
  const files = new Map<File, File>()
  const dated = (file: File): File => files.get(file) ?? file
  const changes = planned.map((change): FileChange => {
    if (change.file === undefined) return { ...change, old: dated(change.old) }
    const { type, file } = change
    const old = change.old && dated(change.old)
    const createdAt = type === 'created' ? at : file.createdAt
    const updatedAt = old !== undefined && keepsDate(change) ? old.updatedAt : at
    const dates = { createdAt, updatedAt, modifiedAt: modifiedAt({ file, old }) }
    files.set(file, { ...file, ...dates })
    return { ...change, file: dated(file), old } as FileChange
  })
  return { changes, dated }

  function modifiedAt({ file, old }: { readonly file: File; readonly old: File | undefined }) {
    if (old?.name !== file.name) return dateAfter(freedAt, at)
    return old.version === file.version ? old.modifiedAt : dateAfter(lastModified(old), at)
  }
}
