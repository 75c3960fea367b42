import { actorOf, narrowSelection, shownName, type Subject } from '../auth/subject.ts'
import { AppError } from '../errors.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { AccountLedger } from '../users/account-ledger.ts'
import { assertActive } from '../users/caller.ts'
import type { ArchivedFile, FileLedger, SelectedFiles } from './file-ledger.ts'
import { type FileName, nameBelow, parentOf } from './file-name.ts'
import { openVersion } from './open-content.ts'

/** Names that one request can ask for. */
export const MAX_ARCHIVED_NAMES = 200

/** Bounds what an archive holds in memory until its end, about 1 KiB for each file, and how long its list takes. */
export const MAX_ARCHIVED_FILES = 10_000

export interface ArchivesOptions {
  readonly ledger: Pick<FileLedger, 'selectFiles'> & AccountLedger
  readonly objects: ObjectStore
  readonly maxFiles?: number | undefined
}

/** Several files of a user in one download. */
export type Archives = ReturnType<typeof createArchives>

export function createArchives(options: ArchivesOptions) {
  const { ledger, objects, maxFiles = MAX_ARCHIVED_FILES } = options

  return {
    /**
     * Guarantees the versions that are current at one instant, in the order of their names, under the names of their
     * entries. Rejects as `narrowSelection` does, with `not_found` if a name has no file, with `archive_too_large` (fact
     * `max_files`), and as `assertActive` does.
     */
    async list(subject: Subject, asked: SelectedFiles): Promise<readonly ArchivedFile[]> {
      const selected = narrowSelection(subject, asked)
      if (subject.kind !== 'operator') await assertActive(ledger, subject)
      const limit = maxFiles + 1
      const files = await ledger.selectFiles({ ...actorOf(subject), selected, limit })
      if (files.length === limit) throw archiveTooLarge(maxFiles)
      assertFound(files, selected)
      return files.flatMap((file) => {
        const name = entryName(subject, asked, file.name)
        return name === undefined ? [] : [{ ...file, name }]
      })
    },
    /**
     * Opens the version that was listed, also if it has been replaced or deleted since: its object stays in the store
     * while it is history or waits as garbage. Rejects as `openContent` does.
     */
    open: async (file: ArchivedFile, signal: AbortSignal) =>
      await openVersion({ objects, file, signal }),
  }
}

/**
 * The name of a file in the archive: relative to the parent of the prefix, or whole without a prefix. To a visitor, as
 * the link shows it unless the prefix is a folder, and `undefined` if the link does not show the file.
 */
function entryName(
  subject: Subject,
  { prefix }: SelectedFiles,
  name: FileName,
): FileName | undefined {
  const shown = subject.kind === 'visitor' ? shownName(subject, name) : name
  if (shown === undefined || prefix === undefined) return shown
  if (subject.kind === 'visitor' && !prefix.endsWith('/')) return shown
  return nameBelow(parentOf(prefix), name)
}

function assertFound(files: readonly ArchivedFile[], { names }: SelectedFiles): void {
  const found = new Set(files.map(({ name }) => name))
  const missing = names?.findIndex((name) => !found.has(name)) ?? -1
  if (missing < 0) return
  throw new AppError('not_found', `The file of the name at position ${missing + 1} was not found.`)
}

export function archiveTooLarge(maxFiles: number): AppError {
  const detail = `An archive has at most ${maxFiles} files. Choose a longer prefix.`
  return new AppError('archive_too_large', detail, { facts: { max_files: maxFiles } })
}
