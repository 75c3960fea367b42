import type { BatchOperation } from '../../../packages/js/src/client.ts'
import type { FileEntry } from '../../shared/model.ts'
import { type Entry, nameOf } from '../files/shown-entries.ts'
import type { Step } from '../selection/batches.ts'
import { type ManyPage, runSteps } from '../selection/run-steps.ts'
import { filesOf, isGone } from './files-of.ts'

/** Deletes files and whole folders, with one undo for all. The files that stay are selected afterwards. */
export async function removeEntries(page: ManyPage, entries: readonly Entry[]): Promise<void> {
  const { list, folders, selection, removal, toasts } = page
  const names = entries.map(nameOf)
  selection.clear()
  list.hide(names, true)
  await toasts.attempt(async () => {
    const { files, gone } = await remove(page, entries).finally(() => list.hide(names, false))
    void folders.keepOpen()
    if (gone.size > 0) await removal.report([...gone])
    selection.add(files.filter((file) => !gone.has(file)))
  })
}

async function remove(page: ManyPage, entries: readonly Entry[]) {
  const { list, capacity } = page
  const files = await filesOf(list, entries)
  const outcome = await runSteps(page, {
    steps: files.map((file): Step => ({ files: [file], operation: deletionOf(file) })),
    skipsRefused: true,
    apply: (done) => list.drop(...done.map(({ file }) => file.name)),
  })
  capacity.refresh()
  const gone = new Set(outcome.done.map(({ file }) => file))
  const left = files.filter((file) => !gone.has(file))
  for (const entry of entries) if (isGone(entry, left)) list.dropFolder(entry)
  return { files, gone }
}

function deletionOf({ name, etag }: FileEntry): BatchOperation {
  return { op: 'delete', name, if_match: etag, ignore_missing: true }
}
