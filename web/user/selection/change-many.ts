import type { BatchOperation, FileUpdate } from '../../../packages/js/src/client.ts'
import type { FileEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { Done, Outcome } from './batches.ts'
import { type ManyPage, offerUndo, runSteps } from './run-steps.ts'

const words = messages.selection

/** Restores deleted versions, unless there is a file with the name again. */
export async function restoreMany(page: ManyPage, files: readonly FileEntry[]): Promise<void> {
  const outcome = await runSteps(page, {
    steps: files.map((file) => ({
      files: [file],
      operation: { op: 'restore', version: file.etag },
    })),
    skipsRefused: true,
    apply: (done) => put(page, done),
  })
  if (outcome.done.length > 0) page.capacity.refresh()
}

export interface Update {
  readonly kind: 'share' | 'keep' | 'unkeep'
  readonly files: readonly FileEntry[]
  readonly change: FileUpdate
  /** What undoes it for a file. */
  readonly before: (file: FileEntry) => FileUpdate
}

/** Updates the versions that the user saw, with one undo for all. */
export async function updateMany(page: ManyPage, update: Update): Promise<void> {
  const { kind, files, change, before } = update
  const { done } = await updateEach(page, files, () => change)
  if (done.length === 0) return
  const changed = done.map(({ file }) => file)
  offerUndo(page, {
    kind,
    text: words.done[kind](done.length),
    undo: () => updateEach(page, changed, before),
  })
}

async function updateEach(
  page: ManyPage,
  files: readonly FileEntry[],
  changeOf: (file: FileEntry) => FileUpdate,
): Promise<Outcome> {
  return runSteps(page, {
    steps: files.map((file) => ({ files: [file], operation: updateOf(file, changeOf(file)) })),
    skipsRefused: true,
    apply: (done) => put(page, done),
  })
}

function put({ list }: ManyPage, done: readonly Done[]): void {
  list.put(...done.flatMap(({ after }) => after ?? []))
}

function updateOf({ name, etag }: FileEntry, update: FileUpdate): BatchOperation {
  return { op: 'update', name, if_match: etag, ...update }
}
