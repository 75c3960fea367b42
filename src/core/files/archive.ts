import { actorOf, shownName, type Subject } from '../auth/subject.ts'
import { AppError } from '../errors.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { AccountLedger } from '../users/account-ledger.ts'
import { assertActive } from '../users/caller.ts'
import type { ArchivedFile, FileLedger, SelectedFiles } from './file-ledger.ts'
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
     * Guarantees the versions that are current at one instant, in the order of their names, under the names that the
     * subject sees. Rejects with `not_found` if a name has no file, with `archive_too_large` (fact `max_files`), and
     * tells an inactive user so.
     */
    async list(subject: Subject, selected: SelectedFiles): Promise<readonly ArchivedFile[]> {
      if (subject.kind !== 'operator') await assertActive(ledger, subject)
      const limit = maxFiles + 1
      const files = await ledger.selectFiles({ ...actorOf(subject), selected, limit })
      if (files.length === limit) throw archiveTooLarge(maxFiles)
      assertFound(files, selected)
      if (subject.kind !== 'visitor') return files
      return files.flatMap((file) => {
        const name = shownName(subject, file.name)
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
