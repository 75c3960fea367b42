import type { BatchOperation, FileUpdate } from '../../../packages/js/src/client.ts'
import { problemOf } from '../../shared/connection.ts'
import { failureOf } from '../../shared/error-message.ts'
import type { FileEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { type Done, MAX_OPERATIONS, type Outcome, runBatches, type Step } from './batches.ts'
import type { Move } from './moves.ts'

const words = messages.selection
const { whys } = words

type ManyPage = Pick<Page, 'client' | 'list' | 'capacity' | 'toasts' | 'selection' | 'removal'>

/** Deletes the versions that the user saw, with one undo for all. Those that stay are selected afterwards. */
export async function removeMany(page: ManyPage, files: readonly FileEntry[]): Promise<void> {
  const { list, selection, capacity } = page
  const names = files.map(({ name }) => name)
  selection.clear()
  list.hide(names, true)
  const outcome = await run(page, {
    steps: files.map((file) => ({ file, operation: deletionOf(file) })),
    skipsRefused: true,
    apply: (done) => list.drop(...done.map(({ file }) => file.name)),
  })
  list.hide(names, false)
  capacity.refresh()
  const gone = new Set(outcome.done.map(({ file }) => file))
  if (gone.size > 0) await page.removal.report([...gone])
  selection.add(files.filter((file) => !gone.has(file)))
}

/** Restores deleted versions, unless there is a file with the name again. */
export async function restoreMany(page: ManyPage, files: readonly FileEntry[]): Promise<void> {
  const outcome = await run(page, {
    steps: files.map((file) => ({ file, operation: { op: 'restore', version: file.etag } })),
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
  return run(page, {
    steps: files.map((file) => ({ file, operation: updateOf(file, changeOf(file)) })),
    skipsRefused: true,
    apply: (done) => put(page, done),
  })
}

/**
 * Gives files their new names, with one undo for all, unless one is taken. Rejects if not all were moved, with the reason
 * as `cause`.
 */
export async function moveMany(page: ManyPage, moves: readonly Move[]): Promise<void> {
  const { done, failure } = await moveEach(page, moves)
  if (done.length > 0) {
    const back = done.flatMap(({ file, after }) =>
      after === null ? [] : [{ file: after, name: file.name }],
    )
    offerUndo(page, {
      kind: 'rename',
      text: words.done.rename(done.length),
      undo: async () => {
        // What was moved last had its former name free.
        const undone = await moveEach(page, back.toReversed())
        tell(page, undone, back.length)
      },
    })
  }
  if (failure !== undefined) throw new Error('Not all files were moved.', { cause: failure })
}

async function moveEach(page: ManyPage, moves: readonly Move[]): Promise<Outcome> {
  return run(page, {
    steps: moves.map(({ file, name }) => ({ file, operation: renameOf(file, name) })),
    skipsRefused: false,
    apply(done) {
      page.list.drop(...done.map(({ file }) => file.name))
      put(page, done)
    },
  })
}

interface Run {
  readonly steps: readonly Step[]
  readonly skipsRefused: boolean
  /** Shows in the list what a batch has done. */
  readonly apply: (done: readonly Done[]) => void
}

/** Runs the steps, says how far it is if that takes several batches, and what was refused of what may be. */
async function run(page: ManyPage, { steps, skipsRefused, apply }: Run): Promise<Outcome> {
  const { client, toasts } = page
  let count = 0
  let end = (): void => undefined

  function showProgress(): void {
    const text = words.progress(count, steps.length)
    end = toasts.replace({ kind: 'progress', text, stays: true })
  }

  if (steps.length > MAX_OPERATIONS) showProgress()
  const outcome = await runBatches({
    files: client.files,
    steps,
    skipsRefused,
    onBatch(done) {
      count += done.length
      apply(done)
      if (steps.length > MAX_OPERATIONS) showProgress()
    },
  })
  end()
  if (skipsRefused) tell(page, outcome, steps.length)
  return outcome
}

function tell({ toasts }: ManyPage, { done, refused, failure }: Outcome, all: number): void {
  const left = all - done.length
  if (left === 0) return
  const error = failure ?? refused.at(-1)?.error
  toasts.show(words.left(left, all, whyOf(error)))
}

const WHYS: Readonly<Record<string, string>> = {
  version_gone: whys.lost,
  file_exists: whys.exists,
  capacity_exceeded: whys.full,
  file_count_exceeded: whys.full,
  not_found: whys.changed,
  precondition_failed: whys.changed,
}

function whyOf(error: unknown): string {
  return WHYS[problemOf(error)?.code ?? ''] ?? failureOf(error)
}

interface Offer {
  readonly kind: string
  readonly text: string
  readonly undo: () => Promise<unknown>
}

function offerUndo({ toasts }: ManyPage, { kind, text, undo }: Offer): void {
  toasts.replace({ kind, text, action: { label: messages.undo, run: () => void undo() } })
}

function put({ list }: ManyPage, done: readonly Done[]): void {
  list.put(...done.flatMap(({ after }) => after ?? []))
}

function deletionOf({ name, etag }: FileEntry): BatchOperation {
  return { op: 'delete', name, if_match: etag, ignore_missing: true }
}

function renameOf({ name, etag }: FileEntry, newName: string): BatchOperation {
  return { op: 'rename', name, new_name: newName, if_match: etag }
}

function updateOf({ name, etag }: FileEntry, update: FileUpdate): BatchOperation {
  return { op: 'update', name, if_match: etag, ...update }
}
