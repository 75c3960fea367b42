import type { FileEntry } from '../../shared/model.ts'
import { isSamePlace } from '../files/view.ts'
import { type Entry, nameOf } from '../files/shown-entries.ts'
import { MAX_OPERATIONS, type Step } from '../selection/batches.ts'
import { type ManyPage, runSteps, showReading } from '../selection/run-steps.ts'
import { dropEmptyFolders } from './drop-empty-folders.ts'
import { filesOf } from './files-of.ts'

/** Deletes files and whole folders, with one undo for all. The files that stay are selected afterwards. */
export async function removeEntries(page: ManyPage, entries: readonly Entry[]): Promise<void> {
  const { list, folders, selection, removal, toasts } = page
  const names = entries.map(nameOf)
  const place = list.view.value
  selection.clear()
  list.hide(names, true)
  await toasts.attempt(async () => {
    const { files, gone } = await remove(page, entries).finally(() => list.hide(names, false))
    void folders.keepOpen()
    if (gone.size > 0) await removal.report([...gone])
    // Elsewhere, they would be selected out of sight.
    if (isSamePlace(list.view.value, place)) selection.add(files.filter((file) => !gone.has(file)))
  })
}

async function remove(page: ManyPage, entries: readonly Entry[]) {
  const { list, capacity } = page
  const files: FileEntry[] = []
  const steps: Step[] = []
  await showReading(page, async () => {
    for (const entry of entries) {
      const below = await filesOf(list, [entry])
      for (const file of below) files.push(file)
      for (const step of stepsOf(entry, below)) steps.push(step)
    }
  })
  const outcome = await runSteps(page, {
    steps,
    skipsRefused: true,
    apply: (done) => list.drop(...done.map(({ file }) => file.name)),
  })
  capacity.refresh()
  const gone = new Set(outcome.done.map(({ file }) => file))
  await dropEmptyFolders(page, entries)
  return { files, gone }
}

/** A folder is deleted at once if the service takes so many files, else file by file. */
function stepsOf(entry: Entry, files: readonly FileEntry[]): readonly Step[] {
  if (typeof entry !== 'string' || files.length > MAX_OPERATIONS) return byFile(files)
  if (files.length === 0) return []
  const ofFolder = { become: () => null, byFile: () => byFile(files) }
  return [{ files, operation: { op: 'delete', prefix: entry, ignore_missing: true }, ofFolder }]
}

/** Deletes the versions that the user saw. */
function byFile(files: readonly FileEntry[]): readonly Step[] {
  return files.map((file) => {
    const { name, etag } = file
    const operation = { op: 'delete', name, if_match: etag, ignore_missing: true } as const
    return { files: [file], operation }
  })
}
